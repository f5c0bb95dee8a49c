import { ExternalLink, FolderGit2, GitBranch, GitPullRequest } from "lucide-react";
import type { ReactNode } from "react";

import type { Order } from "@/api/types";
import { orderTitle } from "@/lib/inbox";
import { repositoryName } from "@/lib/repository";
import { clean, safeHref } from "@/lib/text";
import { Badge } from "@/ui/badge";
import { CopyButton } from "@/ui/copy-button";
import { Link, OutsideLink } from "@/ui/link";
import { Money } from "@/ui/money";
import { PageHeader } from "@/ui/page-header";
import { SafeText } from "@/ui/safe-text";
import { OrderBadge } from "@/ui/status-badge";
import { Duration, RelativeTime } from "@/ui/time";
import { VerificationBadge } from "@/ui/verification-badge";
import { isOver } from "./model";

export function OrderHeader({ order, actions }: { order: Order; actions: ReactNode }) {
  const title = orderTitle(order);
  const id = order.agent_work_order_id;
  return (
    <PageHeader
      title={<SafeText text={title} max={200} />}
      documentTitle={clean(title)}
      breadcrumbs={[
        <Link key="orders" to="/orders">
          Work orders
        </Link>,
      ]}
      actions={actions}
      description={
        <div className="space-y-1.5 pt-1">
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
            <OrderBadge order={order} />
            <VerificationBadge
              verification={order.verification}
              reason={order.verification_reason}
            />
            {order.priority !== "medium" && (
              <Badge tone={order.priority === "low" ? "neutral" : "attention"}>
                {clean(order.priority)} priority
              </Badge>
            )}
            <span className="inline-flex items-center gap-0.5 font-mono text-[13px]">
              <SafeText text={id} max={60} />
              <CopyButton text={id} label="Copy the order's id" />
            </span>
            <Fact label="Created">
              <RelativeTime value={order.created_at} /> by{" "}
              <SafeText text={order.created_by} max={60} />
            </Fact>
            <Fact label="Updated">
              <RelativeTime value={order.updated_at} />
            </Fact>
            <Fact label={isOver(order) ? "Took" : "Since the start"}>
              <Duration
                from={order.execution_started_at}
                to={isOver(order) ? (order.execution_completed_at ?? order.updated_at) : null}
                none="not begun"
              />
            </Fact>
            <Fact label="Cost">
              <Money usd={order.cost_usd} certainty={order.cost_certainty} />
            </Fact>
          </div>
          <Places order={order} />
        </div>
      }
    />
  );
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <span className="text-[13px] whitespace-nowrap">
      <span className="text-ink-faint">{label}</span> {children}
    </span>
  );
}

const PLACE = "inline-flex max-w-full min-w-0 items-center gap-1.5 text-[13px]";

/** Where the work is: repository, branch, pull request. */
function Places({ order }: { order: Order }) {
  // Before it is pushed there is only a name.
  const branch = order.branch_offered ? order.git_branch_name : null;
  const request = order.github_pull_request_url;
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
      <span className={PLACE}>
        <FolderGit2 aria-hidden className="size-4 shrink-0 text-ink-faint" />
        <Link
          to="/orders"
          search={{ repository: order.repository }}
          className="min-w-0 truncate"
          title={clean(order.repository_url)}
        >
          <SafeText text={repositoryName(order)} max={120} />
        </Link>
      </span>
      {branch && (
        <span className={PLACE}>
          <GitBranch aria-hidden className="size-4 shrink-0 text-ink-faint" />
          <SafeText className="min-w-0 truncate font-mono" text={branch} max={200} />
          <CopyButton text={branch} label="Copy the branch's name" />
        </span>
      )}
      {request && (
        <span className={PLACE}>
          <GitPullRequest aria-hidden className="size-4 shrink-0 text-ink-faint" />
          {safeHref(request) ? (
            <OutsideLink href={request} className="inline-flex min-w-0 items-center gap-1">
              Pull request <ExternalLink aria-hidden className="size-3.5 shrink-0" />
            </OutsideLink>
          ) : (
            <>
              <span className="truncate" title={clean(request)}>
                Review in a file
              </span>
              <CopyButton text={request} label="Copy the review's path" />
            </>
          )}
        </span>
      )}
    </div>
  );
}
