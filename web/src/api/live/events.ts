/** The server's events, as they come over the wire and as the cache takes them. */

import type { ApprovalState, LogEntry, OrderSummary, TaskState } from "../types";

export interface TaskChange {
  path: string;
  state: TaskState;
  attempt: number;
}

/** A line of a log; its number is there when the server sends it. */
export type LogLine = Omit<LogEntry, "n"> & { n?: number };

export type LiveEvent =
  | { kind: "work_order"; id: number; order: OrderSummary; tasks: TaskChange[] }
  | { kind: "log"; id: number; orderId: string; line: LogLine }
  | { kind: "approval"; id: number; orderId: string; approvalId: string; state: ApprovalState };

export const EVENT_KINDS = ["work_order", "log", "approval"] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

export function isEventKind(name: string): name is EventKind {
  return (EVENT_KINDS as readonly string[]).includes(name);
}

/** Null for what cannot be read: an event of a later server must not stop the page. */
export function readEvent(kind: EventKind, lastEventId: string, data: string): LiveEvent | null {
  const id = Number(lastEventId);
  const body = objectOf(data);
  if (body === null || lastEventId === "" || !Number.isSafeInteger(id)) return null;
  const orderId = body["agent_work_order_id"];
  switch (kind) {
    case "work_order": {
      const order = body["agent_work_order"] as OrderSummary | undefined;
      if (typeof order?.agent_work_order_id !== "string") return null;
      return { kind, id, order, tasks: (body["tasks"] as TaskChange[] | undefined) ?? [] };
    }
    case "log":
      if (typeof orderId !== "string") return null;
      return { kind, id, orderId, line: body as unknown as LogLine };
    case "approval": {
      const approvalId = body["approval_id"];
      if (typeof orderId !== "string" || typeof approvalId !== "string") return null;
      // Without a state it has just been asked.
      const state = (body["state"] || "asked") as ApprovalState;
      return { kind, id, orderId, approvalId, state };
    }
  }
}

function objectOf(data: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
