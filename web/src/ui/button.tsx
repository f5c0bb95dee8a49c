import { LoaderCircle, type LucideIcon } from "lucide-react";
import type { ComponentProps } from "react";

import { cx } from "@/ui/cx";

export type ButtonVariant = "primary" | "secondary" | "ghost" | "danger";
export type ButtonSize = "sm" | "md";

const VARIANT = {
  primary: "bg-accent text-accent-ink border-transparent hover:bg-accent-strong",
  secondary: "bg-surface text-ink border-line hover:bg-hover",
  ghost: "bg-transparent text-ink-soft border-transparent hover:bg-hover hover:text-ink",
  danger: "bg-bad-wash text-bad border-bad/40 hover:border-bad",
} satisfies Record<ButtonVariant, string>;

const SIZE = {
  sm: "h-7 gap-1.5 px-2.5 text-[13px]",
  md: "h-8.5 gap-2 px-3.5",
} satisfies Record<ButtonSize, string>;

/** The looks of a button, for links that are shown as one. */
export function buttonClass(
  variant: ButtonVariant = "secondary",
  size: ButtonSize = "md",
  className?: string,
): string {
  return cx(
    "inline-flex shrink-0 cursor-pointer items-center justify-center rounded-md border font-medium whitespace-nowrap transition-colors select-none",
    "disabled:cursor-not-allowed disabled:opacity-55 aria-disabled:cursor-not-allowed aria-disabled:opacity-55",
    VARIANT[variant],
    SIZE[size],
    className,
  );
}

export interface ButtonProps extends ComponentProps<"button"> {
  variant?: ButtonVariant;
  size?: ButtonSize;
  /** Under way: the button keeps its focus, but does nothing when pressed. */
  busy?: boolean;
  icon?: LucideIcon;
}

export function Button({
  variant = "secondary",
  size = "md",
  busy = false,
  icon: Icon,
  className,
  children,
  onClick,
  type = "button",
  ...rest
}: ButtonProps) {
  const Shown = busy ? LoaderCircle : Icon;
  return (
    <button
      type={type}
      aria-busy={busy || undefined}
      aria-disabled={busy || undefined}
      className={buttonClass(variant, size, className)}
      onClick={(event) => {
        if (busy) event.preventDefault();
        else onClick?.(event);
      }}
      {...rest}
    >
      {Shown && (
        <Shown aria-hidden className={cx("size-4 shrink-0", busy && "motion-safe:animate-spin")} />
      )}
      {children}
    </button>
  );
}
