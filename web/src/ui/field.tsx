import { createContext, use, useId, type ReactNode } from "react";
import { CircleAlert } from "lucide-react";

import { cx } from "@/ui/cx";

export interface FieldLinks {
  id: string;
  required: boolean;
  "aria-describedby": string | undefined;
  "aria-invalid": true | undefined;
}

const FieldContext = createContext<FieldLinks | null>(null);

/** What ties a control to its label, hint and error. Outside of a field: nothing. */
export function useFieldLinks(): Partial<FieldLinks> {
  return use(FieldContext) ?? {};
}

export interface FieldProps {
  label: ReactNode;
  hint?: ReactNode;
  error?: ReactNode;
  required?: boolean;
  /** For groups (RadioCards): the label names a group instead of one control. */
  group?: boolean;
  className?: string;
  children: ReactNode;
}

/** A label, one control, its hint and its error. The control inside ties itself to them. */
export function Field({
  label,
  hint,
  error,
  required = false,
  group = false,
  className,
  children,
}: FieldProps) {
  const id = useId();
  const hintId = hint ? `${id}-hint` : null;
  const errorId = error ? `${id}-error` : null;
  const described = [hintId, errorId].filter(Boolean).join(" ") || undefined;
  const Label = group ? "span" : "label";
  return (
    <div
      className={cx("flex min-w-0 flex-col gap-1", className)}
      {...(group
        ? { role: "group", "aria-labelledby": `${id}-label`, "aria-describedby": described }
        : {})}
    >
      <Label id={`${id}-label`} htmlFor={group ? undefined : id} className="font-medium">
        {label}
        {!required && <span className="ml-1.5 text-xs font-normal text-ink-faint">optional</span>}
      </Label>
      <FieldContext
        value={{
          id,
          required,
          "aria-describedby": described,
          "aria-invalid": error ? true : undefined,
        }}
      >
        {children}
      </FieldContext>
      {hint && (
        <div id={hintId ?? undefined} className="text-[13px] text-ink-faint">
          {hint}
        </div>
      )}
      {error && (
        <div
          id={errorId ?? undefined}
          role="alert"
          className="flex items-start gap-1.5 text-[13px] text-bad"
        >
          <CircleAlert aria-hidden className="mt-0.5 size-3.5 shrink-0" />
          <div className="min-w-0 break-words">{error}</div>
        </div>
      )}
    </div>
  );
}
