import { QueryClient, useQuery } from "@tanstack/react-query";
import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { orderKeys, orderQuery } from "@/api/orders";
import { sessionKeys } from "@/api/session";
import { aSession } from "@/api/test-fixtures";
import type { Order, Task } from "@/api/types";
import type { Role } from "@/lib/roles";
import { listenForShortcuts } from "@/lib/shortcuts";
import { StatusBadge } from "@/ui/status-badge";
import { renderPage } from "@/ui/test-page";
import { dismissToasts } from "@/ui/toast";
import { OrderActionBar } from "./order-actions";
import { serve } from "./test-server";
import { testOrder, testTask } from "./test-order";
import { useOrderActions } from "./use-order-actions";

let stop = () => {};
beforeEach(() => {
  stop = listenForShortcuts(window);
});
afterEach(() => {
  stop();
  dismissToasts();
  vi.unstubAllGlobals();
});

function Page({ tasks }: { tasks: Task[] }) {
  const order = useQuery(orderQuery("wo-k3v7abcdefgh2345")).data;
  return order ? <Bar order={order} tasks={tasks} /> : null;
}

function Bar({ order, tasks }: { order: Order; tasks: Task[] }) {
  return (
    <>
      <StatusBadge status={order.status} />
      <OrderActionBar actions={useOrderActions(order, tasks)} tasks={tasks} />
    </>
  );
}

async function show(given: Partial<Order>, tasks: Task[] = [], role: Role = "operator") {
  const queryClient = new QueryClient();
  queryClient.setQueryData(sessionKeys.session(), aSession(role));
  const order = testOrder(given);
  queryClient.setQueryData(orderKeys.detail(order.agent_work_order_id), order);
  await renderPage(<Page tasks={tasks} />, queryClient);
  return order;
}

it("pauses at once and takes it back when the server refuses", async () => {
  let answer = (_: unknown) => {};
  const order = testOrder();
  serve(async ({ method }) => {
    if (method === "GET") return { body: { agent_work_order: order, logs_url: "" } };
    await new Promise((resolve) => (answer = resolve));
    return {
      status: 409,
      body: { code: "order_state_conflict", detail: "It is over", hint: "Only one at work can." },
    };
  });
  await show({});
  await userEvent.click(await screen.findByRole("button", { name: "Pause" }));
  expect(await screen.findByText("Paused")).toBeInTheDocument();
  await waitFor(() => answer(null));
  expect(await screen.findByText("Running")).toBeInTheDocument();
});

it("asks before it cancels", async () => {
  const cancelled = testOrder({ status: "cancelled", updated_at: "2026-03-01T10:06:00Z" });
  const asked = serve(() => ({ body: { agent_work_order: cancelled, logs_url: "" } }));
  await show({});
  await userEvent.click(await screen.findByRole("button", { name: "Cancel" }));
  const dialog = await screen.findByRole("alertdialog", { name: "Cancel this order?" });
  expect(asked).toEqual([]);
  await userEvent.click(within(dialog).getByRole("button", { name: "Cancel the order" }));
  expect(await screen.findByText("Cancelled")).toBeInTheDocument();
  expect(asked[0]).toMatchObject({
    method: "POST",
    path: "/api/agent-work-orders/wo-k3v7abcdefgh2345/cancel",
  });
});

it("retries with the key r, and only where something can be retried", async () => {
  const running = testOrder({ status: "running", updated_at: "2026-03-01T10:06:00Z" });
  const asked = serve(() => ({ body: { agent_work_order: running, logs_url: "" } }));
  await show({ status: "failed" });
  await screen.findByRole("button", { name: "Retry" });
  await userEvent.keyboard("r");
  expect(await screen.findByText("Running")).toBeInTheDocument();
  const posts = () => asked.filter((sent) => sent.method === "POST").map((sent) => sent.path);
  await waitFor(() => expect(posts()).toHaveLength(1));
  await userEvent.keyboard("r");
  expect(posts()).toEqual(["/api/agent-work-orders/wo-k3v7abcdefgh2345/retry"]);
});

it("says what a rollback undoes", async () => {
  serve(({ path }) =>
    path === "/api/tools"
      ? { body: { tools: [{ name: "git.push", undo: "git.delete_branch" }] } }
      : { status: 404, body: { code: "unknown", detail: "no" } },
  );
  await show({ status: "completed" }, [testTask("publish.push", { uses: "git.push" })]);
  await userEvent.keyboard(".");
  await userEvent.click(await screen.findByRole("menuitem", { name: /Roll back/ }));
  const dialog = await screen.findByRole("alertdialog", { name: "Roll back this order?" });
  expect(await within(dialog).findByText("publish.push")).toBeInTheDocument();
  expect(within(dialog).getByText("git.delete_branch")).toBeInTheDocument();
});

it("offers nothing to somebody who may only look, by no button and no key", async () => {
  const asked = serve(() => ({ body: {} }));
  await show({ status: "failed" }, [], "viewer");
  expect(await screen.findByText("Failed")).toBeInTheDocument();
  expect(screen.queryByRole("button")).not.toBeInTheDocument();
  await userEvent.keyboard("rpx.");
  expect(screen.queryByRole("alertdialog")).not.toBeInTheDocument();
  expect(asked).toEqual([]);
});

it("offers no retry after a rollback that had nothing to undo", async () => {
  await show({ status: "cancelled", rolled_back: true }, [testTask("plan")]);
  expect(await screen.findByRole("button", { name: "More actions" })).toBeInTheDocument();
  expect(screen.queryByRole("button", { name: "Retry" })).not.toBeInTheDocument();
});
