import type { LucideIcon } from "lucide-react";
import { RadioGroup as Radix } from "radix-ui";
import type { ReactNode } from "react";

import { cx } from "@/ui/cx";

export interface RadioCard<T extends string> {
  value: T;
  title: ReactNode;
  description?: ReactNode;
  icon?: LucideIcon;
  disabled?: boolean;
  /** Something at the right: a badge. */
  aside?: ReactNode;
}

export interface RadioCardsProps<T extends string> {
  /** Names the group; inside a `Field group` it may be left out. */
  label?: string;
  value: T | null;
  onValueChange: (value: T) => void;
  cards: ReadonlyArray<RadioCard<T>>;
  columns?: 1 | 2 | 3;
  className?: string;
}

const COLUMNS = { 1: "", 2: "sm:grid-cols-2", 3: "sm:grid-cols-2 xl:grid-cols-3" };

export function RadioCards<T extends string>({
  label,
  value,
  onValueChange,
  cards,
  columns = 1,
  className,
}: RadioCardsProps<T>) {
  return (
    <Radix.Root
      aria-label={label}
      value={value}
      onValueChange={(next) => onValueChange(next as T)}
      className={cx("grid gap-2", COLUMNS[columns], className)}
    >
      {cards.map((card) => (
        <Radix.Item
          key={card.value}
          value={card.value}
          disabled={card.disabled}
          className="group flex min-w-0 cursor-pointer items-start gap-3 rounded-lg border border-line bg-surface px-3 py-2.5 text-left hover:bg-hover disabled:cursor-not-allowed disabled:opacity-55 data-[state=checked]:border-accent data-[state=checked]:bg-accent-wash"
        >
          <span className="mt-0.5 flex size-4 shrink-0 items-center justify-center rounded-full border border-line-strong bg-surface group-data-[state=checked]:border-accent">
            <Radix.Indicator className="size-2 rounded-full bg-accent" />
          </span>
          <span className="min-w-0 flex-1">
            <span className="flex items-center gap-1.5 font-medium break-words">
              {card.icon && <card.icon aria-hidden className="size-4 shrink-0 text-ink-soft" />}
              {card.title}
            </span>
            {card.description && (
              <span className="mt-0.5 block text-[13px] break-words text-ink-soft">
                {card.description}
              </span>
            )}
          </span>
          {card.aside}
        </Radix.Item>
      ))}
    </Radix.Root>
  );
}
