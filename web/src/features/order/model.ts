/**
 * What a person can do to an order and to a task, by their states: the server's table of verbs.
 * The server has the last word; this only keeps buttons away that it would refuse.
 */

import type { LogLevel, Order, OrderStatus, Task } from "@/api/types";

export type Action = "pause" | "resume" | "retry" | "cancel" | "rollback";
export type TaskAction = "retry" | "restart" | "skip" | "succeed";

type OrderFacts = Pick<Order, "status" | "waiting_reason" | "rolled_back">;
type TaskFacts = Pick<Task, "state" | "tolerated">;

const OVER = {
  pending: false,
  running: false,
  waiting: false,
  paused: false,
  completed: true,
  failed: true,
  cancelled: true,
} satisfies Record<OrderStatus, boolean>;

/** Nothing more happens to it unless somebody asks. */
export function isOver(order: Pick<Order, "status">): boolean {
  return OVER[order.status];
}

/** A pause was asked for, and what is under way goes on to its end. */
export function isPausing(order: Pick<Order, "status" | "waiting_reason">): boolean {
  return order.status === "running" && order.waiting_reason === "paused";
}

/** An order that was rolled back, or is being, is over for good. */
export function allowedActions(order: OrderFacts, tasks: readonly TaskFacts[]): Action[] {
  if (order.rolled_back) return [];
  if (isOver(order)) {
    return order.status === "completed" ? ["rollback"] : ["retry", "rollback"];
  }
  const stopped = tasks.some((task) => task.state === "failed" && !task.tolerated);
  const isHeld = order.status === "paused" || order.waiting_reason === "paused";
  return [
    isHeld ? "resume" : "pause",
    ...(stopped ? (["retry"] as const) : []),
    "cancel",
    "rollback",
  ];
}

/** What can be decided about one task. Of a scope that was not opened, nothing inside can be. */
export function taskActions(
  order: Pick<Order, "rolled_back">,
  task: Pick<Task, "state">,
): TaskAction[] {
  if (order.rolled_back) return [];
  switch (task.state) {
    case "succeeded":
    case "skipped":
      return ["retry"];
    case "failed":
    case "cancelled":
      return ["retry", "skip", "succeed"];
    case "running":
      return ["restart", "skip", "succeed"];
    case "pending":
    case "awaiting_approval":
      return ["skip", "succeed"];
  }
}

/** What a rollback undoes, the last first: succeeded tasks whose tool says how. */
export function undoSteps(
  tasks: readonly Pick<Task, "path" | "uses" | "state" | "ended_at">[],
  tools: readonly { name: string; undo: string | null }[],
): { path: string; undo: string }[] {
  const undo = new Map(tools.map((tool) => [tool.name, tool.undo]));
  return tasks
    .filter((task) => task.state === "succeeded")
    .toSorted((a, b) => (b.ended_at ?? "").localeCompare(a.ended_at ?? ""))
    .flatMap(({ path, uses }) => {
      const by = undo.get(uses ?? "");
      return by ? [{ path, undo: by }] : [];
    });
}

export interface Promptable {
  accepted: boolean;
  /** What happens with the text, or why none is taken. */
  says: string;
}

export function promptable(order: OrderFacts): Promptable {
  if (order.rolled_back) {
    return { accepted: false, says: "The order was rolled back. Create a new one to go on." };
  }
  switch (order.status) {
    case "running":
      return { accepted: true, says: "The agent reads it at its next turn." };
    case "pending":
      return { accepted: true, says: "It has not begun: the first agent gets this with its task." };
    case "waiting":
      return { accepted: true, says: "It is kept, and the agent reads it when the order goes on." };
    case "paused":
      return { accepted: true, says: "It is kept, and the agent reads it after you resume." };
    case "completed":
      return { accepted: false, says: "The order is done. Create a new one to go on from here." };
    case "failed":
      return { accepted: false, says: "The order has failed. Retry it first, then send a prompt." };
    case "cancelled":
      return { accepted: false, says: "The order was cancelled. Retry it, or create a new one." };
  }
}

export const TABS = [
  "overview",
  "changes",
  "transcript",
  "logs",
  "tests",
  "artifacts",
  "cost",
] as const;
export type TabName = (typeof TABS)[number];

export const TAB_LABELS = {
  overview: "Overview",
  changes: "Changes",
  transcript: "Transcript",
  logs: "Logs",
  tests: "Tests",
  artifacts: "Artifacts",
  cost: "Cost",
} satisfies Record<TabName, string>;

export function tabOf(value: string | undefined): TabName {
  return TABS.find((tab) => tab === value) ?? "overview";
}

/** What stands in the address of the evidence, so that it can be sent to somebody. */
export interface EvidenceView {
  /** Whose transcript, or which task of the overview. */
  task?: string | undefined;
  level?: LogLevel | undefined;
  /** Text in lines of the log. */
  q?: string | undefined;
  /** Not to follow the end of a growing log. */
  follow?: "off" | undefined;
}

/** Who may decide, where the workflow names people; empty: everybody whose role allows it. */
export function approversOf(approval: { subject: Record<string, unknown> }): string[] {
  const named = approval.subject["approvers"];
  return Array.isArray(named) ? named.filter((one) => typeof one === "string") : [];
}

/** JSON for people, cut before it costs the page: the rest is in the API. */
export function jsonText(value: unknown, maxChars = 20_000): { text: string; cut: boolean } {
  const text = JSON.stringify(value, null, 2) ?? "";
  return text.length > maxChars
    ? { text: text.slice(0, maxChars), cut: true }
    : { text, cut: false };
}

/** The value of a form field that must be a JSON object; empty means an empty one. */
export function parseOutputs(
  text: string,
): { value: Record<string, unknown> } | { problem: string } {
  if (text.trim() === "") return { value: {} };
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return { value: value as Record<string, unknown> };
    }
    return { problem: 'Give an object with names and values, like {"passed": true}.' };
  } catch {
    return { problem: "This is not JSON. Check quotes, commas and brackets." };
  }
}
