/** The steps of an order for its tracker, from what it has gone through and where it is. */
import { between } from "@/lib/time";

export const PHASES = ["planning", "implementing", "testing", "completed"] as const;
export type Phase = (typeof PHASES)[number];

export type StepState = "done" | "current" | "waiting" | "failed" | "upcoming" | "skipped";

export interface PhaseSpan {
  phase: string;
  started_at: string;
  completed_at: string | null;
  commits: number;
}

export interface PhaseStep {
  phase: Phase;
  label: string;
  state: StepState;
  /** Null for one that has not begun. */
  durationMs: number | null;
  startedAt: string | null;
  commits: number;
}

export interface PhaseInput {
  status: string;
  currentPhase: string | null;
  history: readonly PhaseSpan[];
  /** For how long the present one has lasted. */
  now: number;
}

const LABELS: Record<Phase, string> = {
  planning: "Planning",
  implementing: "Implementing",
  testing: "Testing",
  completed: "Completed",
};

/** In a loop, implementing and testing take turns: the one that is current counts as not done. */
export function phaseSteps({ status, currentPhase, history, now }: PhaseInput): PhaseStep[] {
  const spans = new Map(history.map((span) => [span.phase, span]));
  const isEnded = status === "completed" || status === "failed" || status === "cancelled";
  const last = PHASES.findLastIndex((phase) => phase !== "completed" && spans.has(phase));
  return PHASES.map((phase, at) => {
    const span = spans.get(phase);
    const isCurrent = phase === currentPhase && phase !== "completed";
    const end = span?.completed_at ?? (isEnded ? null : now);
    return {
      phase,
      label: LABELS[phase],
      state: stepState(phase, status, isCurrent, {
        began: span !== undefined,
        isPassed: at < last,
      }),
      durationMs: span && phase !== "completed" ? between(span.started_at, end) : null,
      startedAt: span?.started_at ?? null,
      commits: span?.commits ?? 0,
    };
  });
}

function stepState(
  phase: Phase,
  status: string,
  isCurrent: boolean,
  { began, isPassed }: { began: boolean; isPassed: boolean },
): StepState {
  if (phase === "completed") {
    if (status === "completed") return "done";
    return status === "failed" || status === "cancelled" ? "skipped" : "upcoming";
  }
  if (status === "completed") return began ? "done" : "skipped";
  if (status === "failed" || status === "cancelled") {
    if (isCurrent) return status === "failed" ? "failed" : "skipped";
    return began ? "done" : "skipped";
  }
  if (isCurrent) return status === "waiting" || status === "paused" ? "waiting" : "current";
  if (began) return "done";
  return isPassed ? "skipped" : "upcoming";
}
