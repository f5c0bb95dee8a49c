import type { LucideIcon } from "lucide-react";
import type { ComponentProps } from "react";

import { cx } from "@/ui/cx";
import { useFieldLinks } from "@/ui/field";

export const CONTROL =
  "w-full min-w-0 rounded-md border border-line-strong bg-surface text-ink placeholder:text-ink-faint aria-invalid:border-bad disabled:cursor-not-allowed disabled:opacity-60 max-sm:text-base";

export interface TextInputProps extends ComponentProps<"input"> {
  icon?: LucideIcon;
  mono?: boolean;
}

export function TextInput({ icon: Icon, mono = false, className, ...rest }: TextInputProps) {
  const links = useFieldLinks();
  const input = (
    <input
      type="text"
      autoComplete="off"
      {...links}
      {...rest}
      className={cx(CONTROL, "h-8.5 px-2.5", Icon && "pl-8", mono && "font-mono", className)}
    />
  );
  if (!Icon) return input;
  return (
    <div className="relative min-w-0">
      <Icon
        aria-hidden
        className="pointer-events-none absolute top-1/2 left-2.5 size-4 -translate-y-1/2 text-ink-faint"
      />
      {input}
    </div>
  );
}

export interface TextAreaProps extends ComponentProps<"textarea"> {
  mono?: boolean;
}

export function TextArea({ mono = false, className, rows = 4, ...rest }: TextAreaProps) {
  const links = useFieldLinks();
  return (
    <textarea
      rows={rows}
      {...links}
      {...rest}
      className={cx(CONTROL, "min-h-16 resize-y px-2.5 py-1.5", mono && "font-mono", className)}
    />
  );
}
