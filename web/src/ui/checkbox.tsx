import { Check } from "lucide-react";
import { Checkbox as Radix } from "radix-ui";
import { useId, type ReactNode } from "react";

import { cx } from "@/ui/cx";

export interface CheckboxProps {
  label: ReactNode;
  hint?: ReactNode;
  checked: boolean;
  onCheckedChange: (checked: boolean) => void;
  disabled?: boolean;
  name?: string;
  className?: string;
}

/** A box with its label: no field needed around it. */
export function Checkbox({
  label,
  hint,
  checked,
  onCheckedChange,
  disabled,
  name,
  className,
}: CheckboxProps) {
  const id = useId();
  return (
    <div className={cx("flex items-start gap-2", className)}>
      <Radix.Root
        id={id}
        name={name}
        checked={checked}
        disabled={disabled}
        onCheckedChange={(next) => onCheckedChange(next === true)}
        aria-describedby={hint ? `${id}-hint` : undefined}
        className="relative mt-0.5 flex size-4.5 shrink-0 cursor-pointer items-center justify-center rounded border border-line-strong bg-surface before:absolute before:-inset-1 before:content-[''] data-[state=checked]:border-accent data-[state=checked]:bg-accent disabled:cursor-not-allowed disabled:opacity-55"
      >
        <Radix.Indicator>
          <Check aria-hidden className="size-3.5 text-accent-ink" strokeWidth={3} />
        </Radix.Indicator>
      </Radix.Root>
      <div className="min-w-0">
        <label htmlFor={id} className="cursor-pointer">
          {label}
        </label>
        {hint && (
          <div id={`${id}-hint`} className="text-[13px] text-ink-faint">
            {hint}
          </div>
        )}
      </div>
    </div>
  );
}
