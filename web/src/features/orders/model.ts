/** The filters of the list of orders, as they stand in the address, and its columns. */

import type { OrderFilter } from "@/api/orders";
import { isOrderStatus, ORDER_STATUSES, type OrderStatus } from "@/lib/states";

export interface OrdersSearch {
  status?: OrderStatus[];
  repository?: string;
  workflow?: string;
  q?: string;
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
  };
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
