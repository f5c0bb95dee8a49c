import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { afterEach, expect, it, vi } from "vitest";

import type { Task } from "@/api/types";
import { foldTasks } from "@/lib/graph";
import { renderPage } from "@/ui/test-page";
import { TaskDetails } from "./task-panel";
import { TaskList } from "./task-list";
import { serve } from "./test-server";
import { testOrder, testTask as task } from "./test-order";
import { useUnfolded } from "./use-unfolded";

afterEach(() => {
  vi.unstubAllGlobals();
});

const TASKS: Task[] = [
  task("plan"),
  task("fix", { kind: "repeat", uses: null, state: "failed", iterations: 1 }),
  task("fix[1]", { kind: "group", uses: null, state: "failed" }),
  task("fix[1].build", {
    state: "failed",
    failure: { category: "permanent", code: "agent_failed", message: "<b>No</b>", hint: "Retry." },
  }),
];

function Page() {
  const [selected, select] = useState<string | null>(null);
  const { unfolded, toggle } = useUnfolded(selected);
  const chosen = TASKS.find((one) => one.path === selected);
  return (
    <>
      <TaskList
        graph={foldTasks(TASKS, unfolded)}
        selected={selected}
        onSelect={select}
        onToggle={toggle}
      />
      {chosen && <TaskDetails order={testOrder({ status: "failed" })} task={chosen} />}
    </>
  );
}

it("folds scopes, and unfolds them by key", async () => {
  await renderPage(<Page />);
  const fold = await screen.findByRole("button", { name: "Unfold fix" });
  expect(fold).toHaveAttribute("aria-expanded", "false");
  expect(screen.getByText("1 round: 1 failed")).toBeInTheDocument();
  expect(screen.queryByRole("list", { name: "Inside fix" })).not.toBeInTheDocument();
  fold.focus();
  await userEvent.keyboard("{Enter}");
  const inside = screen.getByRole("list", { name: "Inside fix" });
  expect(within(inside).getByText("#1")).toBeInTheDocument();
});

it("shows why a task failed as text, and calls it done with the outputs given", async () => {
  const order = testOrder({ status: "running" });
  const asked = serve(() => ({ body: { agent_work_order: order, logs_url: "" } }));
  await renderPage(<Page />);
  await userEvent.click(await screen.findByRole("button", { name: "Unfold fix" }));
  await userEvent.click(screen.getByRole("button", { name: "Unfold #1" }));
  await userEvent.click(screen.getByRole("button", { name: /^build/ }));
  expect(screen.getByText("<b>No</b>")).toBeInTheDocument();

  await userEvent.click(screen.getByRole("button", { name: "Call it done" }));
  const dialog = await screen.findByRole("alertdialog");
  const field = within(dialog).getByRole("textbox", { name: /Outputs/ });
  await userEvent.type(field, "not json");
  await userEvent.click(within(dialog).getByRole("button", { name: "Call it done" }));
  expect(await within(dialog).findByText(/This is not JSON/)).toBeInTheDocument();
  expect(asked).toEqual([]);

  await userEvent.clear(field);
  await userEvent.type(field, '{{"passed": true}');
  await userEvent.click(within(dialog).getByRole("button", { name: "Call it done" }));
  await vi.waitFor(() => expect(asked).toHaveLength(1));
  expect(asked[0]).toMatchObject({
    method: "POST",
    body: { action: "succeed", outputs: { passed: true } },
  });
  expect(decodeURIComponent(asked[0]?.path ?? "")).toContain("/tasks/fix[1].build/override");
});

it("shows what a task used, how sure that is, and what was denied, as text", async () => {
  const used = task("plan", {
    usage: {
      cost_usd: 0.25,
      cost_certainty: "at_least",
      input_tokens: 12_345,
      output_tokens: 678,
      turns: 3,
      model: "claude-x",
    },
    denials: ["Bash(<b>rm</b>)"],
  });
  await renderPage(<TaskDetails order={testOrder({ status: "running" })} task={used} />);
  expect(await screen.findByText("claude-x")).toBeInTheDocument();
  expect(screen.getByText(/at least/)).toHaveTextContent("at least $0.25");
  expect(screen.getByText(/3 turns/)).toHaveTextContent("3 turns, 12.3k tokens in, 678 out");
  const denied = screen.getByRole("region", { name: "Not allowed" });
  expect(within(denied).getByText("Bash(<b>rm</b>)")).toBeInTheDocument();
});
