import type { ReactNode } from "react";

import { cx } from "@/ui/cx";
import { TONE_TEXT, type Tone } from "@/ui/tone";

/** Numbers side by side; two by two on a phone. */
export function Stats({ children }: { children: ReactNode }) {
  return <dl className="grid grid-cols-2 gap-x-6 gap-y-3 sm:grid-cols-4">{children}</dl>;
}

export interface StatProps {
  label: string;
  value: ReactNode;
  tone?: Tone;
  title?: string;
}

export function Stat({ label, value, tone, title }: StatProps) {
  return (
    <div className="min-w-0" title={title}>
      <dt className="text-xs text-ink-faint">{label}</dt>
      <dd className={cx("text-lg font-semibold tabular-nums", tone && TONE_TEXT[tone])}>{value}</dd>
    </div>
  );
}
