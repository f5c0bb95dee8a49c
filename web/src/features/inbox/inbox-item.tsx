import type { ReactNode } from "react";

import type { OrderSummary } from "@/api/types";
import { orderTitle } from "@/lib/inbox";
import { repositoryName } from "@/lib/repository";
import { cx } from "@/ui/cx";
import { PlainLink } from "@/ui/link";
import { SafeText } from "@/ui/safe-text";
import { openItem } from "./item-focus";

/** Covers the whole row, so that it opens wherever it is pressed, also in a new tab. */
export const OPENS =
  "font-medium text-ink outline-none after:absolute after:inset-0 after:rounded-md hover:underline hover:underline-offset-2 focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-focus";

interface InboxItemProps {
  badge: ReactNode;
  /** The link that opens it. */
  title: ReactNode;
  /** Short facts in one line. */
  facts?: ReactNode;
  /** What happened and what to do. */
  children?: ReactNode;
  action?: ReactNode;
  /** Facts stand at the right of the title where there is room. */
  compact?: boolean;
}

export function InboxItem({ badge, title, facts, children, action, compact }: InboxItemProps) {
  return (
    <li
      data-inbox-item=""
      onClick={openItem}
      className="relative flex flex-wrap items-start gap-x-4 gap-y-2 border-b border-line px-4 py-2.5 last:border-0 hover:bg-hover/50"
    >
      <div className="flex w-28 shrink-0 pt-px max-sm:w-full">{badge}</div>
      <div
        className={cx(
          "min-w-0 flex-1 basis-52",
          compact && "lg:flex lg:items-baseline lg:justify-between lg:gap-x-6",
        )}
      >
        <p className="min-w-0 break-words">{title}</p>
        {children}
        {facts && (
          <div className="mt-0.5 flex min-w-0 flex-wrap items-center gap-x-3 gap-y-0.5 text-[13px] text-ink-soft">
            {facts}
          </div>
        )}
      </div>
      {action && <div className="flex shrink-0 items-center gap-2">{action}</div>}
    </li>
  );
}

export function OrderTitleLink({ order }: { order: OrderSummary }) {
  return (
    <PlainLink
      to="/orders/$orderId"
      params={{ orderId: order.agent_work_order_id }}
      data-opens=""
      className={OPENS}
    >
      <SafeText text={orderTitle(order)} max={160} />
    </PlainLink>
  );
}

/** Where it works. */
export function Where({ order }: { order: OrderSummary }) {
  return (
    <SafeText
      className="max-w-full truncate"
      text={repositoryName(order)}
      title={order.repository_url}
    />
  );
}
