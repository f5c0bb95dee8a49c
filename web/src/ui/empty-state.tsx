import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";

import { cx } from "@/ui/cx";

export interface EmptyStateProps {
  icon: LucideIcon;
  title: ReactNode;
  /** What to do next. */
  children?: ReactNode;
  action?: ReactNode;
  className?: string;
}

export function EmptyState({ icon: Icon, title, children, action, className }: EmptyStateProps) {
  return (
    <div className={cx("flex flex-col items-center px-4 py-12 text-center", className)}>
      <div className="mb-3 flex size-10 items-center justify-center rounded-full bg-sunken">
        <Icon aria-hidden className="size-5 text-ink-faint" />
      </div>
      <p className="font-semibold">{title}</p>
      {children && <div className="mt-1 max-w-md text-ink-soft">{children}</div>}
      {action && <div className="mt-4 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  );
}
