/** The filters of the list of orders, as they stand in the address, and its columns. */

import type { OrderFilter } from "@/api/orders";
import { isOrderStatus, ORDER_STATUSES, type OrderStatus } from "@/lib/states";

export interface OrdersSearch {
  status?: OrderStatus[];
  repository?: string;
  workflow?: string;
  q?: string;
  sort?: Sorting["by"];
  order?: Sorting["direction"];
}

export interface Sorting {
  by: "created_at" | "updated_at";
  direction: "asc" | "desc";
}

/** As long as the server takes them. */
export const LONGEST = { repository: 2048, workflow: 64, q: 200 } as const;

/** What is asked of the server: an address that somebody wrote by hand may be too long. */
export function filterOf(search: OrdersSearch): OrderFilter {
  const cut = (name: keyof typeof LONGEST) => search[name]?.trim().slice(0, LONGEST[name]);
  return {
    status: search.status?.filter(isOrderStatus),
    repository: cut("repository") || undefined,
    workflow: cut("workflow") || undefined,
    q: cut("q") || undefined,
    sort: search.sort,
    order: search.order,
  };
}

/** How the list is sorted; newest first if nothing is said. */
export function sortingOf(search: OrdersSearch): Sorting {
  return { by: search.sort ?? "created_at", direction: search.order ?? "desc" };
}

/** What is so anyway does not stand in the address. */
export function withSorting(search: OrdersSearch, { by, direction }: Sorting): OrdersSearch {
  return {
    ...search,
    sort: by === "created_at" ? undefined : by,
    order: direction === "desc" ? undefined : direction,
  };
}

/** A column that is pressed sorts by it, the newest first; pressed again, the other way round. */
export function pressed(now: Sorting, by: Sorting["by"]): Sorting {
  if (now.by !== by) return { by, direction: "desc" };
  return { by, direction: now.direction === "desc" ? "asc" : "desc" };
}

/** The columns that the server sorts by. */
export const SORTED_BY: Partial<Record<string, Sorting["by"]>> = {
  created: "created_at",
  updated: "updated_at",
} satisfies Partial<Record<ColumnId, Sorting["by"]>>;

export const SORTINGS = [
  { value: "created_at desc", label: "Newest first" },
  { value: "created_at asc", label: "Oldest first" },
  { value: "updated_at desc", label: "Last updated first" },
  { value: "updated_at asc", label: "Longest unchanged first" },
] as const satisfies { value: `${Sorting["by"]} ${Sorting["direction"]}`; label: string }[];

export function sortingFrom(value: string): Sorting {
  const [by, direction] = value.split(" ");
  return {
    by: by === "updated_at" ? "updated_at" : "created_at",
    direction: direction === "asc" ? "asc" : "desc",
  };
}

/** Without filters; sorted as before. */
export function cleared({ sort, order }: OrdersSearch): OrdersSearch {
  return { sort, order };
}

export function isFiltered(search: OrdersSearch): boolean {
  const { status, repository, workflow, q } = filterOf(search);
  return Boolean(status?.length || repository || workflow || q);
}

/** With a status more or less, in the order in which they are shown. */
export function withStatus(search: OrdersSearch, status: OrderStatus, on: boolean): OrdersSearch {
  const wanted = new Set(search.status);
  if (on) wanted.add(status);
  else wanted.delete(status);
  const list = ORDER_STATUSES.filter((one) => wanted.has(one));
  return { ...search, status: list.length > 0 ? list : undefined };
}

export function withText(
  search: OrdersSearch,
  name: keyof typeof LONGEST,
  text: string,
): OrdersSearch {
  return { ...search, [name]: text.trim().slice(0, LONGEST[name]) || undefined };
}

/** To choose from: those given, and the chosen one if it is not among them. */
export function choices(known: Iterable<string>, chosen: string | undefined): string[] {
  const all = new Set(known);
  if (chosen) all.add(chosen);
  all.delete("");
  return [...all].sort((a, b) => a.localeCompare(b));
}

/** "12,034 work orders", "1 work order matches". */
export function countText(total: number, filtered: boolean): string {
  const number = total.toLocaleString("en-US");
  if (filtered) return total === 1 ? "1 work order matches" : `${number} work orders match`;
  return total === 1 ? "1 work order" : `${number} work orders`;
}

/** Those that come with the product share a long prefix that says nothing in a list of orders. */
export function workflowWord(name: string): string {
  return name.replace(/^agent_workflow_(?=.)/, "");
}

export function agentName(agent: Record<string, unknown>): string {
  const name = agent["name"];
  return typeof name === "string" ? name : "";
}

const PRIORITY: Record<string, string> = {
  low: "Low",
  medium: "Medium",
  high: "High",
  urgent: "Urgent",
};

export function priorityWord(priority: string): string {
  return Object.hasOwn(PRIORITY, priority) ? (PRIORITY[priority] ?? priority) : priority;
}

export const PHASE_WORDS: Record<string, string> = {
  planning: "Planning",
  implementing: "Implementing",
  testing: "Testing",
  completed: "Completed",
};

export const COLUMN_IDS = [
  "status",
  "title",
  "repository",
  "workflow",
  "phase",
  "agent",
  "priority",
  "cost",
  "updated",
  "created",
] as const;
export type ColumnId = (typeof COLUMN_IDS)[number];

/** An order is known by these. */
export const FIXED_COLUMNS: readonly ColumnId[] = ["status", "title"];
const HIDDEN_AT_FIRST: readonly ColumnId[] = ["agent", "priority"];

export type Visibility = Record<ColumnId, boolean>;

/** From what the browser keeps: a list of hidden columns. Anything else is as at first. */
export function readVisibility(text: string | null): Visibility {
  const hidden = parseHidden(text) ?? HIDDEN_AT_FIRST;
  return Object.fromEntries(
    COLUMN_IDS.map((id) => [id, FIXED_COLUMNS.includes(id) || !hidden.includes(id)]),
  ) as Visibility;
}

function parseHidden(text: string | null): string[] | null {
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.filter((one) => typeof one === "string") : null;
  } catch {
    return null;
  }
}

export function writeVisibility(shown: Partial<Record<string, boolean>>): string {
  return JSON.stringify(COLUMN_IDS.filter((id) => shown[id] === false));
}
