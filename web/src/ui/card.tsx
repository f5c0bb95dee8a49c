import { useId, type ComponentProps, type ReactNode } from "react";

import { cx } from "@/ui/cx";

export interface CardProps extends Omit<ComponentProps<"section">, "title"> {
  title?: ReactNode;
  description?: ReactNode;
  actions?: ReactNode;
  /** Without inner space: for lists and tables that reach the edges. */
  flush?: boolean;
}

/** A framed part of a page. With a title it is a landmark of that name. */
export function Card({
  title,
  description,
  actions,
  flush = false,
  className,
  children,
  ...rest
}: CardProps) {
  const id = useId();
  return (
    <section
      aria-labelledby={title ? id : undefined}
      className={cx("min-w-0 overflow-hidden rounded-lg border border-line bg-surface", className)}
      {...rest}
    >
      {(title || actions) && (
        <div className="flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-1.5">
          <div className="min-w-0 flex-1">
            {title && (
              <h2 id={id} className="truncate text-sm font-semibold">
                {title}
              </h2>
            )}
            {description && <p className="text-xs text-ink-faint">{description}</p>}
          </div>
          {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
        </div>
      )}
      <div className={flush ? undefined : "p-4"}>{children}</div>
    </section>
  );
}
