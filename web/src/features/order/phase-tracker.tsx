import { useQuery } from "@tanstack/react-query";
import {
  Circle,
  CircleCheck,
  CircleDashed,
  CircleX,
  Hourglass,
  LoaderCircle,
  type LucideIcon,
} from "lucide-react";

import { gitProgressQuery } from "@/api/orders";
import type { Order } from "@/api/types";
import { phaseSteps, type PhaseStep, type StepState } from "./phases";
import { plural } from "@/lib/text";
import { duration } from "@/lib/time";
import { useNow } from "@/lib/use-now";
import { cx } from "@/ui/cx";
import { TONE_TEXT, type Tone } from "@/ui/tone";
import { isOver } from "./model";

const LOOK = {
  done: { label: "Done", icon: CircleCheck, tone: "good" },
  current: { label: "Under way", icon: LoaderCircle, tone: "active" },
  waiting: { label: "Waiting", icon: Hourglass, tone: "attention" },
  failed: { label: "Failed", icon: CircleX, tone: "bad" },
  upcoming: { label: "To come", icon: Circle, tone: "neutral" },
  skipped: { label: "Not needed", icon: CircleDashed, tone: "neutral" },
} satisfies Record<StepState, { label: string; icon: LucideIcon; tone: Tone }>;

/** Planning → implementing → testing → completed, with how long each took and what it committed. */
export function PhaseTracker({ order }: { order: Order }) {
  const git = useQuery(gitProgressQuery(order.agent_work_order_id));
  const now = useNow(isOver(order) ? undefined : 1000);
  const steps = phaseSteps({
    status: order.status,
    currentPhase: order.current_phase,
    history: git.data?.phase_history ?? [],
    now,
  });
  // A workflow may have no phases at all.
  if (isOver(order) && git.data?.phase_history.length === 0) return null;
  return (
    <ol
      aria-label="Phases"
      className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line sm:grid-cols-4"
    >
      {steps.map((step) => (
        <Step
          key={step.phase}
          step={step}
          wentWell={order.status !== "failed" && order.status !== "cancelled"}
        />
      ))}
    </ol>
  );
}

function Step({ step, wentWell }: { step: PhaseStep; wentWell: boolean }) {
  const look = LOOK[step.state];
  const Icon = look.icon;
  const isCurrent = step.state === "current" || step.state === "waiting";
  const word =
    step.state === "skipped" && !wentWell
      ? step.startedAt
        ? "Stopped"
        : "Not reached"
      : look.label;
  const facts = [
    step.durationMs !== null && duration(step.durationMs),
    step.commits > 0 && plural(step.commits, "commit"),
  ].filter(Boolean);
  return (
    <li
      aria-current={isCurrent ? "step" : undefined}
      className="flex min-w-0 items-center gap-2.5 bg-surface px-3 py-2"
    >
      <Icon
        aria-hidden
        className={cx(
          "size-4.5 shrink-0",
          TONE_TEXT[look.tone],
          step.state === "current" && "motion-safe:animate-spin",
        )}
      />
      <div className="min-w-0">
        <p className={cx("truncate font-medium", step.state === "upcoming" && "text-ink-soft")}>
          {step.label}
        </p>
        <p className="truncate text-xs text-ink-faint tabular-nums">
          {[word, ...facts].join(" · ")}
        </p>
      </div>
    </li>
  );
}
