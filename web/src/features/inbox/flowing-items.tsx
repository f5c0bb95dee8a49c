import { useQuery } from "@tanstack/react-query";
import { GitBranch, GitPullRequest } from "lucide-react";

import { orderQuery, tasksQuery } from "@/api/orders";
import type { OrderSummary } from "@/api/types";
import { orderTitle } from "@/lib/inbox";
import { safeHref } from "@/lib/text";
import { OutsideLink } from "@/ui/link";
import { Money } from "@/ui/money";
import { SafeText } from "@/ui/safe-text";
import { OrderBadge } from "@/ui/status-badge";
import { Duration, RelativeTime } from "@/ui/time";
import { VerificationBadge } from "@/ui/verification-badge";
import { InboxItem, OrderTitleLink, Where } from "./inbox-item";
import { atWork, isPausing, type Item } from "./model";
import { QuickActionButton } from "./quick-action-button";

interface FlowingItemProps {
  item: Item;
  order: OrderSummary;
}

export function RunningItem({ item, order }: FlowingItemProps) {
  return (
    <InboxItem
      badge={<OrderBadge order={order} />}
      title={<OrderTitleLink order={order} />}
      facts={
        <>
          <span className="min-w-0 text-ink">
            <SafeText text={isPausing(order) ? "Pausing after this" : item.reason} max={120} />
            {order.status === "running" && <TaskAtWork id={order.agent_work_order_id} />}
          </span>
          <Where order={order} />
          {order.execution_started_at ? (
            <Duration from={order.execution_started_at} />
          ) : (
            <span>
              created <RelativeTime className="relative" value={order.created_at} />
            </span>
          )}
          {order.waiting_until && order.status === "waiting" && (
            <span>
              goes on <RelativeTime className="relative" value={order.waiting_until} />
            </span>
          )}
          <Money usd={order.cost_usd} certainty={order.cost_certainty} />
        </>
      }
      action={
        isPausing(order) && (
          <QuickActionButton
            orderId={order.agent_work_order_id}
            title={orderTitle(order)}
            action="resume"
          />
        )
      }
    />
  );
}

function TaskAtWork({ id }: { id: string }) {
  const tasks = useQuery(tasksQuery(id)).data;
  const name = tasks && atWork(tasks);
  if (!name) return null;
  return (
    <span className="text-ink-soft">
      {" · "}
      <SafeText className="font-mono break-all" text={name} max={80} />
    </span>
  );
}

export function ReviewItem({ item, order }: FlowingItemProps) {
  return (
    <InboxItem
      badge={<Badges order={order} />}
      title={<OrderTitleLink order={order} />}
      facts={
        <>
          {safeHref(order.github_pull_request_url) && (
            <span className="inline-flex items-center gap-1">
              <GitPullRequest aria-hidden className="size-3.5 shrink-0" />
              <OutsideLink href={order.github_pull_request_url} className="relative">
                Pull request
              </OutsideLink>
            </span>
          )}
          {order.git_branch_name && (
            <span className="inline-flex max-w-full min-w-0 items-center gap-1">
              <GitBranch aria-hidden className="size-3.5 shrink-0" />
              <SafeText
                className="truncate font-mono"
                text={order.git_branch_name}
                title={order.git_branch_name}
              />
            </span>
          )}
          <Changes id={order.agent_work_order_id} />
          <Where order={order} />
          <RelativeTime className="relative" value={item.since} />
          <Money usd={order.cost_usd} certainty={order.cost_certainty} />
        </>
      }
    />
  );
}

/** Numbers from git are only on an order's own page; few are in review at a time. */
function Changes({ id }: { id: string }) {
  const order = useQuery(orderQuery(id)).data;
  if (!order) return null;
  const { git_files_changed: files, git_lines_added: added, git_lines_removed: removed } = order;
  return (
    <span className="whitespace-nowrap tabular-nums">
      {files === 1 ? "1 file" : `${files} files`}
      {files > 0 && (
        <>
          {" "}
          <span className="text-good">+{added}</span> <span className="text-bad">−{removed}</span>
        </>
      )}
    </span>
  );
}

export function DoneItem({ item, order }: FlowingItemProps) {
  return (
    <InboxItem
      compact
      badge={<Badges order={order} />}
      title={<OrderTitleLink order={order} />}
      facts={
        <>
          <Where order={order} />
          <RelativeTime className="relative" value={item.since} />
          <Money usd={order.cost_usd} certainty={order.cost_certainty} />
        </>
      }
    />
  );
}

function Badges({ order }: { order: OrderSummary }) {
  return (
    <span className="flex flex-wrap items-center gap-1.5">
      <OrderBadge order={order} />
      <VerificationBadge verification={order.verification} reason={order.verification_reason} />
    </span>
  );
}
