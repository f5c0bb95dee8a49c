/** From events to the cache: what an event says is put in place, what it only hints at is asked
 * for again. Pure but for the cache it is given. */

import type { QueryClient, QueryKey } from "@tanstack/react-query";

import { cachedApproval, putApproval } from "../approval-cache";
import { approvalKeys } from "../approval-keys";
import type { LiveEvent, LogLine, TaskChange } from "./events";
import { isNewer, patchLists, type OrderChange } from "./lists";
import { patchLogs } from "./logs";
import { cachedOrder } from "../order-cache";
import { orderKeys } from "../order-keys";
import { patch } from "../patch";
import { statusKeys } from "../status";
import type { Order, Task } from "../types";

/** What to ask for again: `soon` by key, and `evidence` of orders (git, diff, transcript…), which
 * costs more and changes with every line of a log. */
export interface Stale {
  soon: QueryKey[];
  evidence: Set<string>;
}

/** The last known status of orders that are in no cache; bounded, the oldest go first. */
export class Statuses {
  private readonly known = new Map<string, string>();

  constructor(private readonly most = 20_000) {}

  get(id: string): string | undefined {
    return this.known.get(id);
  }

  set(id: string, status: string): void {
    this.known.delete(id);
    this.known.set(id, status);
    if (this.known.size > this.most) {
      const [oldest] = this.known.keys();
      if (oldest !== undefined) this.known.delete(oldest);
    }
  }
}

/** Applies one event. */
export function patchCache(queryClient: QueryClient, event: LiveEvent): Stale {
  return patchAll(queryClient, [event], new Statuses());
}

/** Applies events in their order; many about one order cost as much as one. */
export function patchAll(
  queryClient: QueryClient,
  events: readonly LiveEvent[],
  statuses: Statuses,
): Stale {
  const stale: Stale = { soon: [], evidence: new Set() };
  const { orders, tasks, logs } = gathered(queryClient, events, statuses);
  if (orders.size > 0) {
    stale.soon.push(...patchLists(queryClient, orders));
    for (const [id, { order, statusBefore }] of orders) {
      patch<Order>(queryClient, orderKeys.detail(id), (known) =>
        isNewer(order, known) ? { ...known, ...order } : known,
      );
      patchTasks(queryClient, id, tasks.get(id) ?? new Map<string, TaskChange>());
      if (statusBefore !== order.status) stale.soon.push(statusKeys.status());
      statuses.set(id, order.status);
      if (isCached(queryClient, orderKeys.tasks(id))) stale.soon.push(orderKeys.tasks(id));
      if (isFetching(queryClient, orderKeys.detail(id))) stale.soon.push(orderKeys.detail(id));
    }
    // An answer on its way may be older than the event.
    if (isFetching(queryClient, orderKeys.lists())) stale.soon.push(orderKeys.lists());
  }
  for (const [id, lines] of logs) {
    stale.soon.push(...patchLogs(queryClient, id, lines));
    stale.evidence.add(id);
  }
  for (const event of events) {
    if (event.kind === "approval") stale.soon.push(...patchApproval(queryClient, event));
  }
  return stale;
}

interface Gathered {
  orders: Map<string, OrderChange>;
  tasks: Map<string, Map<string, TaskChange>>;
  logs: Map<string, LogLine[]>;
}

function gathered(
  queryClient: QueryClient,
  events: readonly LiveEvent[],
  statuses: Statuses,
): Gathered {
  const found: Gathered = { orders: new Map(), tasks: new Map(), logs: new Map() };
  for (const event of events) {
    if (event.kind === "work_order") {
      const id = event.order.agent_work_order_id;
      const earlier = found.orders.get(id);
      const statusBefore =
        earlier === undefined
          ? (statuses.get(id) ?? cachedOrder(queryClient, id)?.status)
          : earlier.statusBefore;
      found.orders.set(id, { order: event.order, statusBefore });
      const tasks = found.tasks.get(id) ?? new Map<string, TaskChange>();
      for (const task of event.tasks) tasks.set(task.path, task);
      found.tasks.set(id, tasks);
    } else if (event.kind === "log") {
      const lines = found.logs.get(event.orderId) ?? [];
      lines.push(event.line);
      found.logs.set(event.orderId, lines);
    }
  }
  return found;
}

function patchTasks(
  queryClient: QueryClient,
  id: string,
  changes: ReadonlyMap<string, TaskChange>,
): void {
  if (changes.size === 0) return;
  patch<Task[]>(queryClient, orderKeys.tasks(id), (known) =>
    known.map((task) => {
      const change = changes.get(task.path);
      if (change === undefined || change.attempt < task.attempt) return task;
      return { ...task, state: change.state, attempt: change.attempt };
    }),
  );
}

function patchApproval(
  queryClient: QueryClient,
  event: Extract<LiveEvent, { kind: "approval" }>,
): QueryKey[] {
  const known = cachedApproval(queryClient, event.approvalId);
  // What was decided is not asked again by an older event.
  if (known !== undefined && known.decided_at === null) {
    putApproval(queryClient, { ...known, state: event.state });
  }
  return [
    approvalKeys.asked(),
    approvalKeys.ofOrder(event.orderId),
    approvalKeys.one(event.approvalId),
    statusKeys.status(),
  ];
}

function isCached(queryClient: QueryClient, queryKey: QueryKey): boolean {
  return queryClient.getQueryCache().find({ queryKey, exact: true }) !== undefined;
}

function isFetching(queryClient: QueryClient, queryKey: QueryKey): boolean {
  return queryClient.isFetching({ queryKey }) > 0;
}
