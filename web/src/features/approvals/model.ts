import type { Approval } from "@/api/types";
import { byPressure } from "@/lib/inbox";
import { instant } from "@/lib/time";

/** One thing that is part of what is decided: a name, and its value as text. */
export interface SubjectRow {
  name: string;
  value: string;
  /** Long or of several lines: shown as a block. */
  block: boolean;
}

const BLOCK_FROM = 80;
const WORDS: Record<string, string> = {
  run_id: "Work order",
  input: "Input",
  path: "Task",
  task: "Task",
  uses: "Tool",
  kind: "Kind of task",
  risk: "Risk",
  generation: "Try",
  message: "Question",
  shown: "Shown",
};

/** What the hash covers, flattened to names and texts; nothing is left out. */
export function subjectRows(subject: Record<string, unknown>): SubjectRow[] {
  return Object.entries(subject).flatMap(([name, value]) =>
    isObject(value) && Object.keys(value).length > 0
      ? Object.entries(value).map(([inner, item]) => row(`${label(name)}: ${inner}`, item))
      : [row(label(name), value)],
  );
}

function row(name: string, value: unknown): SubjectRow {
  const text = asText(value);
  return { name, value: text, block: text.length > BLOCK_FROM || text.includes("\n") };
}

export function asText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === null || value === undefined) return "none";
  return JSON.stringify(value, null, 2);
}

function label(name: string): string {
  return WORDS[name] ?? name;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function riskOf(approval: Approval): "low" | "medium" | "high" | null {
  const risk = approval.subject["risk"];
  return risk === "low" || risk === "medium" || risk === "high" ? risk : null;
}

/** As in the inbox: the urgent first, then what expires within a day; of the rest, who waits longest. */
export function mostPressing(
  asked: readonly Approval[],
  orders: readonly { agent_work_order_id: string; priority: string }[],
  now: number,
): Approval[] {
  const byId = new Map(orders.map((order) => [order.agent_work_order_id, order]));
  const pressure = byPressure(now);
  const since = (approval: Approval) => instant(approval.asked_at) ?? 0;
  return asked
    .map((approval) => ({ approval, order: byId.get(approval.agent_work_order_id) ?? null }))
    .sort((a, b) => pressure(a, b) || since(a.approval) - since(b.approval))
    .map(({ approval }) => approval);
}

/** Why no decision can be made any more, in words; null while it is asked. */
export function closedBecause(approval: Approval): string | null {
  switch (approval.state) {
    case "asked":
      return null;
    case "approved":
      return "This was approved. The work order went on with exactly what is shown here.";
    case "rejected":
      return "This was rejected. The task was not run.";
    case "expired":
      return "Nobody decided in time, so the task was not run.";
    case "void":
      return "The work order moved on or ended before anybody decided. If it still asks, there is a new question about what is there now.";
  }
}
