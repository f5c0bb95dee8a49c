/** Which cached lists an event changes, and which must be asked for again. */

import type { QueryClient, QueryKey } from "@tanstack/react-query";

import { cachedPages } from "../order-cache";
import type { OrderFilter } from "../order-keys";
import { patch } from "../patch";
import type { OrderPage, OrderSummary } from "../types";

/** What changed of an order: as it is now, and the status that was last known. */
export interface OrderChange {
  order: OrderSummary;
  statusBefore: string | undefined;
}

interface Group {
  key: QueryKey;
  filter: OrderFilter;
  pages: OrderPage[];
  found: Set<string>;
}

/** Rows are replaced where they are. Answers the lists in which rows may have come or gone. */
export function patchLists(
  queryClient: QueryClient,
  changes: ReadonlyMap<string, OrderChange>,
): QueryKey[] {
  const groups = new Map<string, Group>();
  for (const [key, page] of cachedPages(queryClient)) {
    const filter = key[2] as OrderFilter;
    const name = JSON.stringify(filter);
    const group = groups.get(name) ?? {
      key: key.slice(0, 3),
      filter,
      pages: [],
      found: new Set<string>(),
    };
    groups.set(name, group);
    group.pages.push(page);
    patchPage(queryClient, key, page, changes, group.found);
  }
  return [...groups.values()].filter((group) => isOutdated(group, changes)).map(({ key }) => key);
}

function patchPage(
  queryClient: QueryClient,
  key: QueryKey,
  page: OrderPage,
  changes: ReadonlyMap<string, OrderChange>,
  found: Set<string>,
): void {
  let changed = false;
  const rows = page.agent_work_orders.map((row) => {
    const order = changes.get(row.agent_work_order_id)?.order;
    if (order === undefined) return row;
    found.add(row.agent_work_order_id);
    if (!isNewer(order, row)) return row;
    changed = true;
    return order;
  });
  if (changed) patch<OrderPage>(queryClient, key, (old) => ({ ...old, agent_work_orders: rows }));
}

/** A page that was read after the event was written knows more than the event. */
export function isNewer(event: OrderSummary, known: OrderSummary): boolean {
  return event.updated_at >= known.updated_at;
}

function isOutdated(group: Group, changes: ReadonlyMap<string, OrderChange>): boolean {
  for (const [id, { order, statusBefore }] of changes) {
    const { status, sort } = group.filter;
    // Every change moves its row.
    if (sort === "updated_at" && mayMatch(group.filter, order)) return true;
    if (group.found.has(id)) {
      if (status !== undefined && !status.includes(order.status)) return true;
      continue;
    }
    // Rows come and go with an order's beginning and with its status, with nothing else.
    const isNew = statusBefore === undefined;
    if (!isNew && (status === undefined || statusBefore === order.status)) continue;
    if (mayMatch(group.filter, order) && !isBeyond(group, order)) return true;
  }
  return false;
}

function mayMatch(filter: OrderFilter, order: OrderSummary): boolean {
  if (filter.status !== undefined && !filter.status.includes(order.status)) return false;
  // Only the server knows which texts and addresses mean the same.
  return filter.workflow === undefined || filter.workflow === order.workflow_type;
}

/** Whether its row is on a page that nobody has loaded, so that no count changes either. */
function isBeyond(group: Group, order: OrderSummary): boolean {
  const { status, order: direction } = group.filter;
  if (status !== undefined || direction !== undefined) return false;
  const rows = group.pages.flatMap((page) => page.agent_work_orders);
  const total = Math.max(...group.pages.map((page) => page.total_count));
  return rows.length < total && rows.every((row) => row.created_at > order.created_at);
}
