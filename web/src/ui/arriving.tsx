import { CloudOff } from "lucide-react";
import type { ReactNode } from "react";

import { useLateness } from "@/lib/late-code";
import { cx } from "@/ui/cx";

export interface ArrivingProps {
  label: string;
  className?: string;
  /** The skeleton of what comes. */
  children: ReactNode;
}

/** In the place of a part whose code is on its way; says so when it cannot be had yet. */
export function Arriving({ label, className, children }: ArrivingProps) {
  const lateness = useLateness();
  if (lateness === "none") {
    return (
      <div role="status" aria-busy="true" aria-label={label} className={className}>
        {children}
      </div>
    );
  }
  return (
    <div role="status" className={cx("flex items-start gap-2.5 p-4 text-ink-soft", className)}>
      <CloudOff aria-hidden className="mt-0.5 size-4 shrink-0 text-attention" />
      <p>This part could not be loaded yet. It comes by itself as soon as the server has it.</p>
    </div>
  );
}
