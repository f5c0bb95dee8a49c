import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";

import { approvalQuery } from "@/api/approvals";
import { orderQuery } from "@/api/orders";
import type { Approval } from "@/api/types";
import { repositoryName } from "@/lib/repository";
import { Card } from "@/ui/card";
import { CodeBlock } from "@/ui/code";
import { CopyButton } from "@/ui/copy-button";
import { ButtonLink, Link } from "@/ui/link";
import { Loaded } from "@/ui/loaded";
import { PageHeader } from "@/ui/page-header";
import { SafeText } from "@/ui/safe-text";
import { ApprovalBadge } from "@/ui/status-badge";
import { RelativeTime } from "@/ui/time";

import { ChangesSoFar } from "./changes-so-far";
import { Decide } from "./decide";
import { riskOf, subjectRows } from "./model";
import { RiskBadge } from "./risk-badge";

const route = getRouteApi("/approvals/$");

/** One approval: the question, exactly what would run, what was changed so far, the decision. */
export function ApprovalPage() {
  const { _splat: approvalId = "" } = route.useParams();
  const approval = useQuery(approvalQuery(approvalId));
  const title = approval.data?.message || approval.data?.task || "Approval";
  return (
    <>
      <PageHeader
        title={<SafeText text={title} max={300} />}
        documentTitle="Approval"
        breadcrumbs={[
          <Link key="all" to="/approvals">
            Approvals
          </Link>,
        ]}
        description={approval.data && <Facts approval={approval.data} />}
      />
      <Loaded
        query={approval}
        action={
          <ButtonLink to="/approvals" size="sm">
            All approvals
          </ButtonLink>
        }
      >
        {(shown) => <Body approval={shown} />}
      </Loaded>
    </>
  );
}

function Facts({ approval }: { approval: Approval }) {
  const risk = riskOf(approval);
  return (
    <span className="mt-1 flex flex-wrap items-center gap-x-3 gap-y-1 text-[13px]">
      <ApprovalBadge state={approval.state} />
      {risk && <RiskBadge risk={risk} />}
      <span>
        asked <RelativeTime value={approval.asked_at} />
      </span>
      {approval.expires_at && (
        <span>
          expires <RelativeTime value={approval.expires_at} />
        </span>
      )}
    </span>
  );
}

function Body({ approval }: { approval: Approval }) {
  return (
    <div className="grid gap-4 lg:grid-cols-[minmax(0,1fr)_20rem]">
      <div className="flex min-w-0 flex-col gap-4">
        <Subject approval={approval} />
        <ChangesSoFar orderId={approval.agent_work_order_id} head={approval.head_sha} />
      </div>
      <div className="flex min-w-0 flex-col gap-4 max-lg:order-first">
        <Decide key={approval.approval_id} approval={approval} />
        <OrderFacts orderId={approval.agent_work_order_id} task={approval.task} />
      </div>
    </div>
  );
}

function Subject({ approval }: { approval: Approval }) {
  return (
    <Card
      title="What exactly is approved"
      description="The hash covers this task, its input and the commit below, and nothing else. If one of them changes, this approval no longer counts and it is asked again."
    >
      <dl className="flex flex-col gap-3">
        {subjectRows(approval.subject).map((row) => (
          <div key={row.name} className="grid gap-1 sm:grid-cols-[9rem_minmax(0,1fr)] sm:gap-3">
            <dt className="text-[13px] break-words text-ink-faint">
              <SafeText text={row.name} max={120} />
            </dt>
            <dd className="min-w-0 break-words">
              {row.block ? (
                <CodeBlock text={row.value} label={row.name} wrap />
              ) : (
                <SafeText text={row.value} />
              )}
            </dd>
          </div>
        ))}
        <div className="grid gap-1 border-t border-line pt-3 sm:grid-cols-[9rem_minmax(0,1fr)] sm:gap-3">
          <dt className="text-[13px] text-ink-faint">SHA-256 of this</dt>
          <dd className="flex min-w-0 items-center gap-1">
            <span className="font-mono text-[13px] break-all" data-testid="subject-hash">
              {approval.subject_hash}
            </span>
            <CopyButton text={approval.subject_hash} label="Copy the hash" />
          </dd>
        </div>
      </dl>
    </Card>
  );
}

function OrderFacts({ orderId, task }: { orderId: string; task: string }) {
  const order = useQuery(orderQuery(orderId));
  return (
    <Card title="Work order">
      <p className="font-medium break-words">
        <SafeText text={order.data?.title ?? orderId} max={200} />
      </p>
      <dl className="mt-2 flex flex-col gap-1.5 text-[13px]">
        <Fact name="Repository" value={order.data ? repositoryName(order.data) : "…"} />
        <Fact name="Workflow" value={order.data?.workflow_type ?? "…"} />
        <Fact name="Branch" value={order.data?.git_branch_name ?? "none yet"} />
        <Fact name="Task" value={task} />
      </dl>
      <ButtonLink
        to="/orders/$orderId"
        params={{ orderId }}
        size="sm"
        className="mt-3"
        aria-label="Open the work order"
      >
        Open
      </ButtonLink>
    </Card>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div className="flex gap-2">
      <dt className="w-20 shrink-0 text-ink-faint">{name}</dt>
      <dd className="min-w-0 break-all">
        <SafeText text={value} max={200} />
      </dd>
    </div>
  );
}
