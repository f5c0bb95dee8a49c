import { ChevronDown } from "lucide-react";
import type { ComponentProps } from "react";

import { cx } from "@/ui/cx";
import { useFieldLinks } from "@/ui/field";
import { CONTROL } from "@/ui/text-input";

export interface SelectOption {
  value: string;
  label: string;
  disabled?: boolean;
}

export interface SelectProps extends Omit<ComponentProps<"select">, "onChange" | "multiple"> {
  /** Or give `<option>` elements as children. */
  options?: readonly SelectOption[];
  onValueChange?: (value: string) => void;
}

/** The browser's own list: it works the same with a mouse, a keyboard and a thumb. */
export function Select({ options, onValueChange, className, children, ...rest }: SelectProps) {
  const links = useFieldLinks();
  return (
    <div className={cx("relative min-w-0", className)}>
      <select
        {...links}
        {...rest}
        onChange={(event) => onValueChange?.(event.target.value)}
        className={cx(CONTROL, "h-8.5 cursor-pointer appearance-none truncate pr-8 pl-2.5")}
      >
        {options?.map((option) => (
          <option key={option.value} value={option.value} disabled={option.disabled}>
            {option.label}
          </option>
        ))}
        {children}
      </select>
      <ChevronDown
        aria-hidden
        className="pointer-events-none absolute top-1/2 right-2.5 size-4 -translate-y-1/2 text-ink-faint"
      />
    </div>
  );
}
