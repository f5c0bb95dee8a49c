import { memo } from "react";

import type { OrderSummary } from "@/api/types";
import { repositoryName } from "@/lib/repository";
import { Money } from "@/ui/money";
import { SafeText } from "@/ui/safe-text";
import { Skeleton } from "@/ui/skeleton";
import { OrderBadge } from "@/ui/status-badge";
import { RelativeTime } from "@/ui/time";
import { VerificationBadge } from "@/ui/verification-badge";
import { PHASE_WORDS } from "./model";
import { OrderLink } from "./order-link";

export const CARD_HEIGHT = 92;

interface OrderCardProps {
  /** Undefined while its page is on the way. */
  order: OrderSummary | undefined;
  index: number;
  start: number;
  count: number;
}

/** An order where there is no room for a table. */
export const OrderCard = memo(function OrderCard({ order, index, start, count }: OrderCardProps) {
  return (
    <div
      role="listitem"
      aria-setsize={count}
      aria-posinset={index + 1}
      aria-busy={order === undefined || undefined}
      data-index={index}
      className="absolute top-0 left-0 flex w-full flex-col justify-center gap-1 border-b border-line px-3.5 [contain:layout_style_paint]"
      style={{ height: CARD_HEIGHT, transform: `translateY(${start}px)` }}
    >
      {order ? <Facts order={order} /> : <Shapes />}
    </div>
  );
});

function Facts({ order }: { order: OrderSummary }) {
  const phase = PHASE_WORDS[order.current_phase ?? ""];
  return (
    <>
      <div className="flex items-center justify-between gap-3 text-[13px] text-ink-soft">
        <span className="flex min-w-0 items-center gap-1.5">
          <OrderBadge order={order} />
          <VerificationBadge
            verification={order.verification}
            reason={order.verification_reason}
          />
        </span>
        <RelativeTime value={order.updated_at} />
      </div>
      <OrderLink order={order} />
      <div className="flex min-w-0 items-center gap-x-2 text-[13px] text-ink-soft">
        <SafeText className="truncate" text={repositoryName(order)} max={120} />
        {phase && order.status !== "completed" && <span className="shrink-0">· {phase}</span>}
        <span className="shrink-0">
          · <Money usd={order.cost_usd} certainty={order.cost_certainty} />
        </span>
      </div>
    </>
  );
}

function Shapes() {
  return (
    <>
      <span className="sr-only">Loading</span>
      <Skeleton className="h-5 w-24 rounded-full" />
      <Skeleton className="h-4 w-4/5" />
      <Skeleton className="h-3.5 w-1/2" />
    </>
  );
}
