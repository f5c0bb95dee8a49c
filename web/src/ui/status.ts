import {
  Ban,
  CircleCheck,
  CircleDashed,
  CirclePause,
  CircleSlash,
  CircleX,
  Hand,
  Hourglass,
  LoaderCircle,
  SkipForward,
  TimerOff,
} from "lucide-react";

import type { ApprovalState, OrderStatus, TaskState } from "@/lib/states";
import type { Look } from "@/ui/tone";

export const ORDER_LOOK = {
  pending: { label: "Queued", icon: CircleDashed, tone: "neutral" },
  running: { label: "Running", icon: LoaderCircle, tone: "active" },
  waiting: { label: "Waiting", icon: Hourglass, tone: "attention" },
  paused: { label: "Paused", icon: CirclePause, tone: "quiet" },
  completed: { label: "Completed", icon: CircleCheck, tone: "good" },
  failed: { label: "Failed", icon: CircleX, tone: "bad" },
  cancelled: { label: "Cancelled", icon: Ban, tone: "neutral" },
} satisfies Record<OrderStatus, Look>;

export const TASK_LOOK = {
  pending: { label: "Pending", icon: CircleDashed, tone: "neutral" },
  running: { label: "Running", icon: LoaderCircle, tone: "active" },
  awaiting_approval: { label: "Needs approval", icon: Hand, tone: "attention" },
  succeeded: { label: "Succeeded", icon: CircleCheck, tone: "good" },
  failed: { label: "Failed", icon: CircleX, tone: "bad" },
  skipped: { label: "Skipped", icon: SkipForward, tone: "neutral" },
  cancelled: { label: "Cancelled", icon: Ban, tone: "neutral" },
} satisfies Record<TaskState, Look>;

export const APPROVAL_LOOK = {
  asked: { label: "Needs you", icon: Hand, tone: "attention" },
  approved: { label: "Approved", icon: CircleCheck, tone: "good" },
  rejected: { label: "Rejected", icon: CircleSlash, tone: "quiet" },
  expired: { label: "Expired", icon: TimerOff, tone: "neutral" },
  void: { label: "No longer asked", icon: Ban, tone: "neutral" },
} satisfies Record<ApprovalState, Look>;
