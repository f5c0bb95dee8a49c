import { QueryClientProvider, type QueryClient } from "@tanstack/react-query";
import { act, renderHook, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { approvalKeys, useDecide } from "./approvals";
import { orderKeys, useCreateOrder, useSteer } from "./orders";
import {
  aPage,
  anApproval,
  anOrder,
  detailed,
  json,
  moment,
  refusal,
  testClient,
} from "./test-fixtures";
import type { Order, OrderPage } from "./types";

let client: QueryClient;
let answer: (request: Request) => Promise<Response>;
const wrapper = ({ children }: { children: ReactNode }) => (
  <QueryClientProvider client={client}>{children}</QueryClientProvider>
);
const status = () => client.getQueryData<Order>(orderKeys.detail("wo-1"))?.status;
const rowStatus = () =>
  client.getQueryData<OrderPage>(orderKeys.page({}, 0))?.agent_work_orders[0]?.status;

beforeEach(() => {
  client = testClient();
  client.setQueryData(orderKeys.detail("wo-1"), detailed(anOrder(1)));
  client.setQueryData(orderKeys.page({}, 0), aPage([anOrder(1)]));
  vi.stubGlobal("fetch", (request: Request) => answer(request));
});
afterEach(() => vi.unstubAllGlobals());

it("shows a pause at once and takes it back when it is refused", async () => {
  let refuse: () => void = () => undefined;
  answer = () =>
    new Promise((resolve) => (refuse = () => resolve(refusal(409, "order_state_conflict"))));
  const { result } = renderHook(() => useSteer("wo-1"), { wrapper });
  act(() => result.current.pause.mutate());
  await waitFor(() => expect([status(), rowStatus()]).toEqual(["paused", "paused"]));
  act(() => refuse());
  await waitFor(() => expect(result.current.pause.error).toMatchObject({ status: 409 }));
  expect([status(), rowStatus()]).toEqual(["running", "running"]);
});

it("does not take back what the server has said meanwhile", async () => {
  answer = async () => {
    const failed = anOrder(1, { status: "failed", updated_at: moment(9) });
    client.setQueryData(orderKeys.detail("wo-1"), detailed(failed));
    return refusal(409, "order_state_conflict");
  };
  const { result } = renderHook(() => useSteer("wo-1"), { wrapper });
  act(() => result.current.cancel.mutate());
  await waitFor(() => expect(result.current.cancel.isError).toBe(true));
  expect(status()).toBe("failed");
});

it("creates an order once, however often it is sent", async () => {
  const keys: (string | null)[] = [];
  answer = async (request) => {
    keys.push(request.headers.get("Idempotency-Key"));
    if (keys.length === 1) return refusal(422, "x");
    return json({ agent_work_order: detailed(anOrder(7)), logs_url: "" }, 201);
  };
  const { result } = renderHook(() => useCreateOrder(), { wrapper });
  const order = { repository_url: "/repo", workflow_type: "plan" } as never;
  for (let i = 0; i < 3; i++) await act(() => result.current.mutateAsync(order).catch(() => null));
  expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
  expect(keys[1]).toBe(keys[0]);
  expect(keys[2]).not.toBe(keys[1]);
  expect(client.getQueryData(orderKeys.detail("wo-7"))).toMatchObject({ status: "running" });
});

it("decides about what was shown, and asks again when that is refused", async () => {
  client.setQueryData(approvalKeys.asked(), [anApproval()]);
  const bodies: unknown[] = [];
  answer = async (request) => {
    bodies.push([new URL(request.url).pathname, await request.json()]);
    expect(client.getQueryData(approvalKeys.asked())).toEqual([]);
    return refusal(409, "approval_subject_changed");
  };
  const { result } = renderHook(() => useDecide(), { wrapper });
  act(() => result.current.mutate({ approval: anApproval(), decision: "approve" }));
  await waitFor(() => expect(result.current.isError).toBe(true));
  expect(bodies).toEqual([
    ["/api/approvals/wo-1%3Aask%3A0/approve", { comment: "", subject_hash: "hash" }],
  ]);
  expect(client.getQueryData(approvalKeys.asked())).toEqual([anApproval()]);
});
