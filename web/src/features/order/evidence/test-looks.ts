import {
  CircleCheck,
  CircleHelp,
  CircleX,
  LoaderCircle,
  OctagonAlert,
  SkipForward,
} from "lucide-react";

import type { Look } from "@/ui/tone";

import type { Outcome } from "./junit";
import type { Verdict } from "./tests-model";

export const VERDICT_LOOK: Record<Verdict, Look & { spin?: boolean }> = {
  running: { label: "Running", icon: LoaderCircle, tone: "active", spin: true },
  passed: { label: "Passed", icon: CircleCheck, tone: "good" },
  failed: { label: "Failed", icon: CircleX, tone: "bad" },
  none: { label: "Unverified", icon: CircleHelp, tone: "attention" },
  broken: { label: "Did not finish", icon: OctagonAlert, tone: "attention" },
};

export const OUTCOME_LOOK = {
  failed: { label: "Failed", icon: CircleX, tone: "bad" },
  error: { label: "Error", icon: OctagonAlert, tone: "bad" },
  skipped: { label: "Skipped", icon: SkipForward, tone: "neutral" },
  passed: { label: "Passed", icon: CircleCheck, tone: "good" },
} satisfies Record<Outcome, Look>;
