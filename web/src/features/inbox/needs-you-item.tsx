import { ShieldAlert, ShieldCheck, ShieldQuestion } from "lucide-react";

import { useMay } from "@/api/roles";
import type { Approval, OrderSummary } from "@/api/types";
import { orderTitle } from "@/lib/inbox";
import { Badge } from "@/ui/badge";
import { HintText } from "@/ui/hint-text";
import { ButtonLink, PlainLink } from "@/ui/link";
import { SafeText } from "@/ui/safe-text";
import { ApprovalBadge, OrderBadge } from "@/ui/status-badge";
import { RelativeTime } from "@/ui/time";
import type { Look } from "@/ui/tone";
import { InboxItem, OPENS, OrderTitleLink, Where } from "./inbox-item";
import { advice, quickAction, riskOf, type Item } from "./model";
import { QuickActionButton } from "./quick-action-button";

const RISK_LOOK = {
  low: { label: "Low risk", icon: ShieldCheck, tone: "neutral" },
  medium: { label: "Medium risk", icon: ShieldQuestion, tone: "attention" },
  high: { label: "High risk", icon: ShieldAlert, tone: "bad" },
} satisfies Record<"low" | "medium" | "high", Look>;

export function NeedsYouItem({ item }: { item: Item }) {
  if (item.approval) return <AskedItem approval={item.approval} order={item.order} />;
  return item.order ? <StoppedItem item={item} order={item.order} /> : null;
}

function AskedItem({ approval, order }: { approval: Approval; order: OrderSummary | null }) {
  const { allowed: mayApprove } = useMay("approve");
  const risk = riskOf(approval);
  const look = risk && RISK_LOOK[risk];
  const question = approval.message || `Run ${approval.task}?`;
  return (
    <InboxItem
      badge={<ApprovalBadge state={approval.state} />}
      title={
        <PlainLink
          to="/approvals/$"
          params={{ _splat: approval.approval_id }}
          data-opens=""
          className={OPENS}
        >
          <SafeText text={question} max={300} />
        </PlainLink>
      }
      facts={
        <>
          {look && (
            <Badge tone={look.tone} icon={look.icon}>
              {look.label}
            </Badge>
          )}
          {order && ["urgent", "high"].includes(order.priority) && (
            <Badge tone="attention">{order.priority} priority</Badge>
          )}
          <SafeText
            className="max-w-full truncate"
            text={order ? orderTitle(order) : approval.agent_work_order_id}
          />
          <span>
            Task <SafeText className="font-mono break-all" text={approval.task} max={80} />
          </span>
          <span>
            asked <RelativeTime className="relative" value={approval.asked_at} />
          </span>
          {approval.expires_at && (
            <span>
              expires <RelativeTime className="relative" value={approval.expires_at} />
            </span>
          )}
        </>
      }
      action={
        <ButtonLink
          to="/approvals/$"
          params={{ _splat: approval.approval_id }}
          size="sm"
          variant={mayApprove ? "primary" : "secondary"}
          className="relative"
          aria-label={`${mayApprove ? "Review" : "Look at"}: ${question}`}
        >
          {mayApprove ? "Review" : "Look at it"}
        </ButtonLink>
      }
    />
  );
}

function StoppedItem({ item, order }: { item: Item; order: OrderSummary }) {
  const action = quickAction(item);
  const { what, next } = advice(order);
  return (
    <InboxItem
      badge={<OrderBadge order={order} />}
      title={<OrderTitleLink order={order} />}
      facts={
        <>
          <Where order={order} />
          <RelativeTime className="relative" value={item.since} />
        </>
      }
      action={
        action && (
          <QuickActionButton
            orderId={order.agent_work_order_id}
            title={orderTitle(order)}
            action={action}
          />
        )
      }
    >
      <p className="mt-0.5 break-words">
        <SafeText text={item.reason} max={200} />
        {what && (
          <span className="text-ink-soft">
            {": "}
            <SafeText text={what} max={200} />
          </span>
        )}
      </p>
      {next && (
        <p className="break-words text-ink-soft">
          <HintText text={next} />
        </p>
      )}
    </InboxItem>
  );
}
