/** The states the server knows, by name. `src/api/types.ts` checks that they are all of them. */

export const ORDER_STATUSES = [
  "pending",
  "running",
  "waiting",
  "paused",
  "completed",
  "failed",
  "cancelled",
] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

export const TASK_STATES = [
  "pending",
  "running",
  "awaiting_approval",
  "succeeded",
  "failed",
  "skipped",
  "cancelled",
] as const;
export type TaskState = (typeof TASK_STATES)[number];

export const APPROVAL_STATES = ["asked", "approved", "rejected", "expired", "void"] as const;
export type ApprovalState = (typeof APPROVAL_STATES)[number];

export function isOrderStatus(value: unknown): value is OrderStatus {
  return (ORDER_STATUSES as readonly unknown[]).includes(value);
}

export function isTaskState(value: unknown): value is TaskState {
  return (TASK_STATES as readonly unknown[]).includes(value);
}

/** Whether tests stand behind what an order changed. */
export type Verification = "verified" | "unverified" | "failed";
