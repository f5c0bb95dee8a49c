import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";

import { cx } from "@/ui/cx";
import { TONE_WASH, type Tone } from "@/ui/tone";

export interface BadgeProps {
  tone?: Tone;
  icon?: LucideIcon;
  /** Turns the icon, for things under way; stands still if the reader prefers less motion. */
  spin?: boolean;
  className?: string;
  title?: string;
  children: ReactNode;
}

export function Badge({
  tone = "neutral",
  icon: Icon,
  spin = false,
  className,
  title,
  children,
}: BadgeProps) {
  return (
    <span
      title={title}
      className={cx(
        "inline-flex h-5.5 max-w-full shrink-0 items-center gap-1 rounded-full px-2 text-xs font-medium whitespace-nowrap",
        TONE_WASH[tone],
        className,
      )}
    >
      {Icon && (
        <Icon aria-hidden className={cx("size-3.5 shrink-0", spin && "motion-safe:animate-spin")} />
      )}
      <span className="truncate">{children}</span>
    </span>
  );
}
