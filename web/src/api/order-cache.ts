/** Changing what is cached of orders, wherever it is cached. */

import type { QueryClient, QueryKey } from "@tanstack/react-query";

import { orderKeys } from "./order-keys";
import { patch } from "./patch";
import type { Order, OrderPage, OrderStatus, OrderSummary, Task } from "./types";

export type Change = (order: OrderSummary) => OrderSummary;

/** Every cached page of orders. */
export function cachedPages(queryClient: QueryClient): [QueryKey, OrderPage][] {
  const found = queryClient.getQueriesData<OrderPage>({ queryKey: orderKeys.lists() });
  return found.filter((pair): pair is [QueryKey, OrderPage] => pair[1] !== undefined);
}

/** What is cached of an order, in whatever place. */
export function cachedOrder(queryClient: QueryClient, id: string): OrderSummary | undefined {
  const detail = queryClient.getQueryData<Order>(orderKeys.detail(id));
  if (detail !== undefined) return detail;
  for (const [, page] of cachedPages(queryClient)) {
    const row = page.agent_work_orders.find((one) => one.agent_work_order_id === id);
    if (row !== undefined) return row;
  }
  return undefined;
}

/** Changes an order on its own page and in every list. Numbers from git stay as they are. */
export function changeOrder(queryClient: QueryClient, id: string, change: Change): void {
  patch<Order>(queryClient, orderKeys.detail(id), (known) => {
    const changed = change(known);
    return changed === known ? known : { ...known, ...changed };
  });
  for (const [key, page] of cachedPages(queryClient)) {
    const rows = page.agent_work_orders;
    const index = rows.findIndex((one) => one.agent_work_order_id === id);
    const row = rows[index];
    const changed = row && change(row);
    if (changed === undefined || changed === row) continue;
    const agent_work_orders = rows.with(index, changed);
    patch<OrderPage>(queryClient, key, (known) => ({ ...known, agent_work_orders }));
  }
}

/** Shows a status before the server has said so. Answers how to take it back, which does nothing
 * where the server has spoken since. */
export function expectStatus(
  queryClient: QueryClient,
  id: string,
  status: OrderStatus,
): () => void {
  const before = cachedOrder(queryClient, id);
  if (before === undefined || before.status === status) return () => undefined;
  changeOrder(queryClient, id, (order) => ({ ...order, status }));
  return () =>
    changeOrder(queryClient, id, (order) =>
      order.status === status && order.updated_at <= before.updated_at
        ? { ...order, status: before.status }
        : order,
    );
}

/** The same for a task. */
export function expectTaskState(
  queryClient: QueryClient,
  id: string,
  path: string,
  state: Task["state"],
): () => void {
  const key = orderKeys.tasks(id);
  const before = queryClient.getQueryData<Task[]>(key)?.find((task) => task.path === path);
  if (before === undefined) return () => undefined;
  const set = (from: Task["state"], to: Task["state"]) =>
    patch<Task[]>(queryClient, key, (tasks) =>
      tasks.map((task) =>
        task.path === path && task.state === from && task.attempt === before.attempt
          ? { ...task, state: to }
          : task,
      ),
    );
  set(before.state, state);
  return () => set(state, before.state);
}
