/** What the inbox shows of the lists it is given, and what can be done about an item at once. */

import type { Approval, OrderPage, OrderStatus, OrderSummary, Task } from "@/api/types";
import { explainWaiting, guidance } from "@/lib/explain";
import { inbox, type Inbox, type InboxItem } from "@/lib/inbox";

export type Item = InboxItem<OrderSummary, Approval>;
export type SectionName = keyof Inbox<OrderSummary, Approval>;

/** How orders are asked for: apart, so that many failures cannot hide one that waits. */
export const LISTS = {
  held: { status: ["waiting", "paused"] },
  failed: { status: ["failed"], sort: "updated_at" },
  active: { status: ["running", "pending"] },
  ended: { status: ["completed", "cancelled"], sort: "updated_at" },
} as const satisfies Record<string, { status: readonly OrderStatus[]; sort?: "updated_at" }>;

export type ListName = keyof typeof LISTS;
export type Lists = Record<ListName, OrderPage>;

/** More than this is work for the table, which filters and searches. */
const MOST_SHOWN = {
  needsYou: 50,
  running: 20,
  inReview: 10,
  done: 10,
} satisfies Record<SectionName, number>;

/** The lists whose orders can stand in a section. */
const SOURCES = {
  needsYou: ["held", "failed"],
  running: ["active"],
  inReview: ["ended"],
  done: ["ended"],
} satisfies Record<SectionName, ListName[]>;

/** What "See all" filters the table by. */
const ALL_STATUSES = {
  needsYou: ["waiting", "paused", "failed"],
  running: ["running", "pending"],
  inReview: ["completed"],
  done: ["completed", "cancelled"],
} satisfies Record<SectionName, OrderStatus[]>;

export interface Section {
  name: SectionName;
  items: Item[];
  /** For the heading: "3", or "120+" when more than was loaded may belong here. */
  count: string;
  /** Not all are shown here. */
  more: boolean;
  /** Where all of them are. */
  statuses: OrderStatus[];
}

export function sections(lists: Lists, approvals: readonly Approval[], now: number): Section[] {
  const orders = Object.values(lists).flatMap((page) => page.agent_work_orders);
  const sorted = inbox(orders, approvals, now);
  return (["needsYou", "running", "inReview", "done"] as const).map((name) => {
    const all = sorted[name];
    const isCut = SOURCES[name].some((list) => goesOn(lists[list], list === "held", all));
    return {
      name,
      items: all.slice(0, MOST_SHOWN[name]),
      count: isCut && all.length > 0 ? `${all.length}+` : String(all.length),
      more: isCut || all.length > MOST_SHOWN[name],
      statuses: ALL_STATUSES[name],
    };
  });
}

/** Whether what was not loaded may belong to the section too. What is sorted by time does so only
 * if the last that was loaded does. */
function goesOn(page: OrderPage, unsorted: boolean, items: readonly Item[]): boolean {
  const { agent_work_orders: rows, total_count: total } = page;
  const last = rows.at(-1)?.agent_work_order_id;
  if (total <= rows.length) return false;
  return unsorted || items.some((item) => item.order?.agent_work_order_id === last);
}

/** Nobody has made an order yet. */
export function isFirstRun(lists: Lists): boolean {
  return Object.values(lists).every((page) => page.total_count === 0);
}

export type QuickAction = "retry" | "resume";

/** The one thing that most likely helps; everything else is on the order's page. */
export function quickAction(item: Item): QuickAction | null {
  const { order, approval } = item;
  if (approval !== null || order === null || order.rolled_back) return null;
  if (order.status === "failed") return "retry";
  if (order.status === "paused") return "resume";
  const failed = order.status === "waiting" && order.waiting_reason?.startsWith("failure");
  return failed ? "retry" : null;
}

/** What happened, and what to do: for orders that stand still. */
export function advice(order: OrderSummary): { what: string | null; next: string | null } {
  const failure = guidance(order);
  if (failure) {
    // Many messages begin with what the title says already.
    const what = failure.what.startsWith(failure.title)
      ? failure.what.slice(failure.title.length).replace(/^[\s:.]+/, "")
      : failure.what;
    return { what: what || null, next: failure.steps[0] ?? null };
  }
  return { what: null, next: explainWaiting(order)?.next ?? null };
}

export function riskOf(approval: Approval): "low" | "medium" | "high" | null {
  const risk = approval.subject["risk"];
  return risk === "low" || risk === "medium" || risk === "high" ? risk : null;
}

/** A pause was asked for; what is under way goes on to its end. */
export function isPausing(order: OrderSummary): boolean {
  return order.status === "running" && order.waiting_reason === "paused";
}

/** The tasks under way in one line: "build", "lint and test", "build and 3 more". */
export function atWork(tasks: readonly Pick<Task, "path" | "state">[]): string | null {
  const running = tasks.filter((task) => task.state === "running").map((task) => task.path);
  // A loop or a fan-out runs while something inside it does: only the innermost say something.
  const inner = running.filter((path) => !running.some((other) => isInside(other, path)));
  const [first, second] = inner;
  if (first === undefined) return null;
  if (second === undefined) return first;
  return inner.length === 2 ? `${first} and ${second}` : `${first} and ${inner.length - 1} more`;
}

function isInside(path: string, scope: string): boolean {
  return path.startsWith(scope) && [".", "["].includes(path.charAt(scope.length));
}
