import { LoaderCircle, Radio, RefreshCw, type LucideIcon } from "lucide-react";

import { useLiveState } from "@/api/live/live";
import { cx } from "@/ui/cx";
import { TONE_TEXT, type Tone } from "@/ui/tone";

type LiveState = ReturnType<typeof useLiveState>;

const LOOK = {
  live: { label: "Live", icon: Radio, tone: "good" },
  connecting: { label: "Reconnecting…", icon: LoaderCircle, tone: "attention" },
  polling: { label: "Polling every 3 s", icon: RefreshCw, tone: "attention" },
} satisfies Record<LiveState, { label: string; icon: LucideIcon; tone: Tone }>;

/** Whether what is on screen is what is. */
export function LiveIndicator({ className }: { className?: string }) {
  const state = useLiveState();
  const { label, icon: Icon, tone } = LOOK[state];
  return (
    <div
      role="status"
      aria-live="polite"
      data-testid="live-state"
      data-state={state}
      className={cx("flex items-center gap-1.5 text-xs font-medium", TONE_TEXT[tone], className)}
    >
      <Icon
        aria-hidden
        className={cx("size-3.5", state === "connecting" && "motion-safe:animate-spin")}
      />
      {label}
    </div>
  );
}
