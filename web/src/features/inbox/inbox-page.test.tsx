import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { approvalKeys } from "@/api/approvals";
import { orderKeys } from "@/api/orders";
import { sessionKeys } from "@/api/session";
import { anApproval, anOrder, aPage, aSession, refusal, testClient } from "@/api/test-fixtures";
import type { Approval, OrderSummary } from "@/api/types";
import type { Role } from "@/lib/roles";
import { listenForShortcuts } from "@/lib/shortcuts";
import { renderPages } from "@/ui/test-page";
import { InboxPage } from "./inbox-page";
import { LISTS, type ListName } from "./model";

let stop = () => {};
beforeEach(() => {
  stop = listenForShortcuts(window);
});
afterEach(() => {
  stop();
  vi.unstubAllGlobals();
});

const failed = (n: number, more: Partial<OrderSummary> = {}) =>
  anOrder(n, {
    status: "failed",
    title: `Order ${n}`,
    error_message: "It broke",
    updated_at: new Date(Date.now() - (100 - n) * 1000).toISOString(),
    ...more,
  });

async function show(
  lists: Partial<Record<ListName, OrderSummary[]>>,
  approvals: Approval[] = [],
  role: Role = "approver",
) {
  const queryClient = testClient();
  queryClient.setQueryData(sessionKeys.session(), aSession(role));
  for (const name of Object.keys(LISTS) as ListName[]) {
    queryClient.setQueryData(orderKeys.page(LISTS[name], 0), aPage(lists[name] ?? []));
  }
  queryClient.setQueryData(approvalKeys.asked(), approvals);
  await renderPages({ "/": InboxPage }, { queryClient });
  await screen.findByRole("heading", { level: 1, name: "Inbox" });
}

it("greets somebody who has no orders with the next step", async () => {
  await show({});
  const begin = await screen.findByRole("link", { name: "Create your first work order" });
  expect(begin).toHaveAttribute("href", "/new");
  expect(screen.getByText("awo demo")).toBeInTheDocument();
});

it("puts what is asked and what failed first, and folds what is empty", async () => {
  await show({ failed: [failed(1)] }, [
    anApproval({ message: "<b>Publish?</b>", subject: { risk: "high" } }),
  ]);
  const section = await screen.findByRole("region", { name: /Needs you 2/ });
  expect(within(section).getByText("<b>Publish?</b>")).toBeInTheDocument();
  expect(within(section).getByText("High risk")).toBeInTheDocument();
  expect(within(section).getByText("It broke")).toBeInTheDocument();
  expect(screen.getByText("Nothing is running.")).toBeInTheDocument();
});

it("moves by j and k", async () => {
  await show({ failed: [failed(1), failed(2)] });
  await screen.findByRole("link", { name: "Order 1" });
  await userEvent.keyboard("jj");
  expect(screen.getByRole("link", { name: "Order 2" })).toHaveFocus();
  await userEvent.keyboard("jk");
  expect(screen.getByRole("link", { name: "Order 1" })).toHaveFocus();
});

it("takes a retry back when the server refuses, and says why", async () => {
  let answer: (response: Response) => void = () => {};
  const answered = new Promise<Response>((resolve) => {
    answer = resolve;
  });
  vi.stubGlobal("fetch", (request: Request) =>
    request.method === "POST" ? answered : new Promise<Response>(() => {}),
  );
  await show({ failed: [failed(1), failed(2)] });
  await screen.findByRole("link", { name: "Order 1" });
  await userEvent.keyboard("jr");
  const running = await screen.findByRole("region", { name: /Running 1/ });
  expect(within(running).getByRole("link", { name: "Order 1" })).toBeInTheDocument();
  expect(screen.getByRole("link", { name: "Order 2" })).toHaveFocus();
  answer(refusal(409, "not_now"));
  await waitFor(() => expect(screen.getByText("It was not retried")).toBeInTheDocument());
  expect(await screen.findByRole("region", { name: /Needs you 2/ })).toBeInTheDocument();
});

it("shows everything to a viewer, and offers nothing that the server would refuse", async () => {
  vi.stubGlobal("fetch", () => Promise.reject(new Error("nothing is asked of the server")));
  await show({ failed: [failed(1)] }, [anApproval({ message: "Publish?" })], "viewer");
  expect(await screen.findByText("It broke")).toBeInTheDocument();
  expect(screen.queryByRole("button", { name: /Retry/ })).not.toBeInTheDocument();
  expect(screen.getByRole("link", { name: "Look at: Publish?" })).toBeInTheDocument();
  await userEvent.keyboard("jr");
  expect(await screen.findByRole("region", { name: /Needs you 2/ })).toBeInTheDocument();
});

it("tells a viewer of an empty server who could create orders", async () => {
  await show({}, [], "viewer");
  expect(await screen.findByText(/a key with the role operator/)).toBeInTheDocument();
  expect(screen.queryByRole("link", { name: /Create/ })).not.toBeInTheDocument();
});

it("offers no retry of what was rolled back", async () => {
  await show({ failed: [failed(1, { rolled_back: true })] });
  expect(await screen.findByText(/rolled back and is over/)).toBeInTheDocument();
  expect(screen.queryByRole("button", { name: /Retry/ })).not.toBeInTheDocument();
});
