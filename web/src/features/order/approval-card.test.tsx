import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";

import { approvalKeys } from "@/api/approvals";
import { sessionKeys } from "@/api/session";
import { anApproval, aSession, testClient } from "@/api/test-fixtures";
import type { Approval } from "@/api/types";
import { renderPage } from "@/ui/test-page";
import { dismissToasts } from "@/ui/toast";
import { Overview } from "./overview";
import { testOrder } from "./test-order";
import { serve } from "./test-server";
import { useOrderActions } from "./use-order-actions";

afterEach(() => {
  dismissToasts();
  vi.unstubAllGlobals();
});

const order = testOrder({ status: "waiting", waiting_reason: "approval" });
const asked = anApproval({ agent_work_order_id: order.agent_work_order_id });

function Page() {
  const actions = useOrderActions(order, []);
  return (
    <Overview order={order} tasks={[]} actions={actions} selected={null} onSelect={() => {}} />
  );
}

/** A server that knows the approval and answers a decision when it is let go. */
async function decide(status: number, decided: Approval) {
  let letGo = () => {};
  let now = asked;
  serve(async ({ method, path }) => {
    if (path.endsWith("/approvals")) return { body: { approvals: [now] } };
    if (method === "GET") return { status: 404, body: { code: "unknown", detail: "no" } };
    await new Promise<void>((resolve) => (letGo = resolve));
    now = decided;
    if (status === 200) return { body: { approval: decided } };
    return { status, body: { code: "approval_subject_changed", detail: "It changed meanwhile" } };
  });
  const queryClient = testClient();
  queryClient.setQueryData(sessionKeys.session(), aSession("approver"));
  queryClient.setQueryData(approvalKeys.ofOrder(order.agent_work_order_id), [asked]);
  await renderPage(<Page />, queryClient);
  await userEvent.type(await screen.findByRole("textbox", { name: /Comment/ }), "Fine by me");
  await userEvent.click(screen.getByRole("button", { name: "Approve" }));
  await waitFor(() =>
    expect(screen.getByRole("button", { name: "Approve" })).toHaveAttribute("aria-busy", "true"),
  );
  letGo();
}

it("says why a decision was not taken, and keeps the comment", async () => {
  await decide(409, asked);
  expect(await screen.findByText("It changed meanwhile")).toBeInTheDocument();
  expect(screen.getByRole("textbox", { name: /Comment/ })).toHaveValue("Fine by me");
});

it("says that it was approved, and asks no more", async () => {
  await decide(200, { ...asked, state: "approved", decided_at: asked.asked_at });
  expect(await screen.findByText("Approved")).toBeInTheDocument();
  expect(screen.queryByRole("region", { name: "Approval asked for" })).not.toBeInTheDocument();
});
