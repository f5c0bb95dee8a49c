import type { ReactNode } from "react";

import type { Order } from "@/api/types";
import { Skeleton } from "@/ui/skeleton";

/** What every panel gets. */
export interface PanelProps {
  orderId: string;
  order: Order;
}

/** Whether more may still come by itself. */
export function isOpen(order: Pick<Order, "status">): boolean {
  return !["completed", "failed", "cancelled"].includes(order.status);
}

/** Where a panel's content will stand. */
export function PanelSkeleton({ rows = 6, label }: { rows?: number; label: string }) {
  return (
    <div aria-busy="true" aria-label={label} role="status" className="flex flex-col gap-2 p-4">
      <Skeleton className="mb-2 h-8 w-64 max-w-full" />
      {Array.from({ length: rows }, (_, index) => (
        <Skeleton key={index} className="h-6 w-full" />
      ))}
    </div>
  );
}

/** The frame of a panel that fills the window and scrolls inside. */
export const TALL = "h-[calc(100dvh-16rem)] min-h-96";

export function Frame({ children, className = "" }: { children: ReactNode; className?: string }) {
  return (
    <div className={`min-w-0 overflow-hidden rounded-lg border border-line bg-surface ${className}`}>
      {children}
    </div>
  );
}
