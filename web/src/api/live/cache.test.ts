import { describe, expect, it } from "vitest";

import { approvalKeys } from "../approval-keys";
import { Statuses, patchAll, patchCache } from "./cache";
import { readEvent, type LiveEvent } from "./events";
import { orderKeys } from "../order-keys";
import {
  aLine,
  aLog,
  aPage,
  aTask,
  anApproval,
  anOrder,
  detailed,
  moment,
  testClient,
} from "../test-fixtures";
import type { Approval, LogPage, Order, OrderPage, OrderSummary, Task } from "../types";

function orderEvent(order: OrderSummary, tasks: Task[] = [], id = 1): LiveEvent {
  return { kind: "work_order", id, order, tasks };
}

function logEvent(n: number | undefined): LiveEvent {
  return { kind: "log", id: n ?? 1, orderId: "wo-1", line: { ...aLine(n ?? 0), n } };
}

const done = anOrder(1, { status: "completed", updated_at: moment(9) });

describe("an order's event", () => {
  it("changes the order and its row, and keeps what only git knows", () => {
    const client = testClient();
    client.setQueryData(orderKeys.detail("wo-1"), detailed(anOrder(1)));
    client.setQueryData(orderKeys.page({}, 0), aPage([anOrder(2), anOrder(1)]));
    const stale = patchCache(client, orderEvent(done));
    const detail = client.getQueryData<Order>(orderKeys.detail("wo-1"));
    expect(detail).toMatchObject({ status: "completed", git_commit_count: 3 });
    const page = client.getQueryData<OrderPage>(orderKeys.page({}, 0));
    expect(page?.agent_work_orders.map((row) => row.status)).toEqual(["running", "completed"]);
    expect(stale.soon).toEqual([["status"]]);
  });

  it("does not undo what was read later", () => {
    const client = testClient();
    const later = anOrder(1, { status: "failed", updated_at: moment(10) });
    client.setQueryData(orderKeys.detail("wo-1"), detailed(later));
    client.setQueryData(orderKeys.page({}, 0), aPage([later]));
    patchCache(client, orderEvent(done));
    expect(client.getQueryData<Order>(orderKeys.detail("wo-1"))?.status).toBe("failed");
    expect(
      client.getQueryData<OrderPage>(orderKeys.page({}, 0))?.agent_work_orders[0]?.status,
    ).toBe("failed");
  });

  it("asks again for lists that it leaves or enters, and for no other", () => {
    const client = testClient();
    client.setQueryData(orderKeys.page({ status: ["running"] }, 0), aPage([anOrder(1)]));
    client.setQueryData(orderKeys.page({ status: ["completed"] }, 0), aPage([]));
    client.setQueryData(orderKeys.page({ status: ["failed"] }, 0), aPage([]));
    client.setQueryData(orderKeys.page({ status: ["completed"], workflow: "x" }, 0), aPage([]));
    expect(patchCache(client, orderEvent(done)).soon).toEqual([
      orderKeys.list({ status: ["running"] }),
      orderKeys.list({ status: ["completed"] }),
      ["status"],
    ]);
  });

  it("asks again for a list that a new order joins, once", () => {
    const client = testClient();
    client.setQueryData(orderKeys.page({}, 0), aPage([anOrder(1)]));
    const statuses = new Statuses();
    const first = patchAll(client, [orderEvent(anOrder(2))], statuses);
    expect(first.soon).toContainEqual(orderKeys.list({}));
    const second = patchAll(client, [orderEvent(anOrder(2, { updated_at: moment(5) }))], statuses);
    expect(second.soon).toEqual([]);
  });

  it("leaves a list alone whose unloaded pages have the order", () => {
    const client = testClient();
    client.setQueryData(orderKeys.page({}, 0), aPage([anOrder(9), anOrder(8)], 9));
    expect(patchCache(client, orderEvent(anOrder(1))).soon).toEqual([["status"]]);
  });

  it("changes tasks at once and asks for the rest", () => {
    const client = testClient();
    client.setQueryData(orderKeys.tasks("wo-1"), [aTask("plan"), aTask("test", { attempt: 3 })]);
    const changes = [
      aTask("plan", { state: "running" }),
      aTask("test", { state: "failed", attempt: 2 }),
    ];
    const stale = patchCache(client, orderEvent(anOrder(1), changes));
    const states = client.getQueryData<Task[]>(orderKeys.tasks("wo-1"))?.map((task) => task.state);
    expect(states).toEqual(["running", "pending"]);
    expect(stale.soon).toContainEqual(orderKeys.tasks("wo-1"));
  });

  it("does not make fresh what was to be read again", () => {
    const client = testClient();
    const key = orderKeys.page({}, 0);
    client.setQueryData(key, aPage([anOrder(1)]), { updatedAt: 5 });
    void client.invalidateQueries({ queryKey: key });
    patchCache(client, orderEvent(done));
    expect(client.getQueryState(key)).toMatchObject({ isInvalidated: true, dataUpdatedAt: 5 });
  });
});

describe("a line of a log", () => {
  const key = orderKeys.logPage("wo-1", {}, 0);

  it("is added at the end, once", () => {
    const client = testClient();
    client.setQueryData(key, aLog(1, 2));
    const stale = patchAll(client, [logEvent(2), logEvent(3), logEvent(3)], new Statuses());
    const page = client.getQueryData<LogPage>(key);
    expect(page?.log_entries.map((line) => line.n)).toEqual([1, 2, 3]);
    expect(page?.total_count).toBe(3);
    expect(stale.soon).toEqual([]);
    expect([...stale.evidence]).toEqual(["wo-1"]);
  });

  it("opens another page when one is full", () => {
    const client = testClient();
    client.setQueryData(key, aLog(1, 199));
    patchAll(client, [logEvent(200), logEvent(201)], new Statuses());
    const page = client.getQueryData<LogPage>(key);
    expect(page).toMatchObject({ total_count: 201, has_more: true });
    expect(page?.log_entries).toHaveLength(200);
  });

  it("is asked for when it does not fit, or only the server knows whether it does", () => {
    const client = testClient();
    const filtered = orderKeys.logPage("wo-1", { q: "x" }, 0);
    client.setQueryData(key, aLog(1, 2));
    client.setQueryData(filtered, aLog(1, 1));
    expect(patchCache(client, logEvent(7)).soon).toEqual([key, filtered]);
    expect(patchCache(client, logEvent(undefined)).soon).toEqual([key, filtered]);
  });
});

describe("an approval's event", () => {
  it("takes it from the list of what is asked", () => {
    const client = testClient();
    client.setQueryData(approvalKeys.asked(), [anApproval()]);
    client.setQueryData(approvalKeys.ofOrder("wo-1"), [anApproval()]);
    const event: LiveEvent = {
      kind: "approval",
      id: 1,
      orderId: "wo-1",
      approvalId: "wo-1:ask:0",
      state: "approved",
    };
    const stale = patchCache(client, event);
    expect(client.getQueryData(approvalKeys.asked())).toEqual([]);
    expect(client.getQueryData<Approval[]>(approvalKeys.ofOrder("wo-1"))?.[0]?.state).toBe(
      "approved",
    );
    expect(stale.soon).toContainEqual(approvalKeys.asked());
  });
});

describe("what comes over the wire", () => {
  it("is read", () => {
    const approval = JSON.stringify({ approval_id: "a", agent_work_order_id: "wo-1", state: "" });
    expect(readEvent("approval", "7", approval)).toMatchObject({ id: 7, state: "asked" });
    expect(readEvent("log", "8", JSON.stringify(aLine(4)))).toMatchObject({ orderId: "wo-1" });
  });

  it("is left out when it makes no sense", () => {
    expect(readEvent("log", "1", "{")).toBeNull();
    expect(readEvent("log", "", JSON.stringify(aLine(1)))).toBeNull();
    expect(readEvent("work_order", "1", "{}")).toBeNull();
    expect(readEvent("approval", "1", "null")).toBeNull();
  });
});
