import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { renderPage } from "@/ui/test-page";
import { testOrder, testTask } from "../test-order";
import { TranscriptPanel } from "./transcript-panel";

beforeEach(() => {
  vi.spyOn(Element.prototype, "clientHeight", "get").mockReturnValue(480);
  vi.spyOn(Element.prototype, "clientWidth", "get").mockReturnValue(1000);
  vi.stubGlobal("fetch", (request: Request) => {
    const url = new URL(request.url);
    if (url.pathname.endsWith("/tasks")) {
      return Promise.resolve(Response.json({ tasks: [testTask("plan"), testTask("build")] }));
    }
    const task = url.searchParams.get("task") ?? "build";
    return Promise.resolve(
      Response.json({
        agent_work_order_id: "wo-1",
        task,
        tasks: ["plan", "build"],
        entries: [{ cursor: 1, kind: "text", text: `<b>${task}</b> says hello`, data: {} }],
        matches: [],
        next_after: 1,
        has_more: false,
      }),
    );
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const show = async (task: string | undefined) => {
  const onTask = vi.fn();
  const order = testOrder({ status: "completed" });
  await renderPage(<TranscriptPanel orderId="wo-1" order={order} task={task} onTask={onTask} />);
  return onTask;
};

it("begins with the task of the address", async () => {
  await show("plan");
  expect(await screen.findByText("<b>plan</b> says hello")).toBeInTheDocument();
});

it("begins with the latest when the address names none, or one without a transcript", async () => {
  await show("verify");
  expect(await screen.findByText("<b>build</b> says hello")).toBeInTheDocument();
});

it("tells which transcript was chosen", async () => {
  const onTask = await show(undefined);
  await screen.findByText("<b>build</b> says hello");
  await userEvent.selectOptions(screen.getByLabelText("Transcript of which task"), "plan");
  expect(onTask).toHaveBeenCalledWith("plan");
});
