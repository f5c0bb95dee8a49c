import { CircleHelp } from "lucide-react";

import { wasRejected } from "@/lib/rejected";
import {
  type ApprovalState,
  isOrderStatus,
  isTaskState,
  type OrderStatus,
  type TaskState,
} from "@/lib/states";
import { Badge } from "@/ui/badge";
import { APPROVAL_LOOK, ORDER_LOOK, TASK_LOOK } from "@/ui/status";
import type { Look } from "@/ui/tone";

interface SharedProps {
  className?: string;
  title?: string;
}

/** A newer server may send a state that this page does not know: show its name, do not crash. */
function lookOf(known: Look | null, value: string): Look {
  return known ?? { label: value, icon: CircleHelp, tone: "neutral" };
}

export function StatusBadge({ status, ...rest }: SharedProps & { status: OrderStatus }) {
  const look = lookOf(isOrderStatus(status) ? ORDER_LOOK[status] : null, status);
  return (
    <Badge tone={look.tone} icon={look.icon} spin={status === "running"} {...rest}>
      {look.label}
    </Badge>
  );
}

/** An order's state for people: what a person said no to did not fail. */
export function OrderBadge({
  order,
  ...rest
}: SharedProps & { order: { status: OrderStatus; error_code: string | null } }) {
  if (wasRejected(order)) return <ApprovalBadge state="rejected" {...rest} />;
  return <StatusBadge status={order.status} {...rest} />;
}

export function TaskStateBadge({ state, ...rest }: SharedProps & { state: TaskState | string }) {
  const look = lookOf(isTaskState(state) ? TASK_LOOK[state] : null, state);
  return (
    <Badge tone={look.tone} icon={look.icon} spin={state === "running"} {...rest}>
      {look.label}
    </Badge>
  );
}

export function ApprovalBadge({ state, ...rest }: SharedProps & { state: ApprovalState }) {
  const look = APPROVAL_LOOK[state];
  return (
    <Badge tone={look.tone} icon={look.icon} {...rest}>
      {look.label}
    </Badge>
  );
}
