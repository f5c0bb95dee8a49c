import { useQuery } from "@tanstack/react-query";
import { CircleCheckBig } from "lucide-react";

import { approvalsQuery } from "@/api/approvals";
import { orderPageQuery } from "@/api/orders";
import { useMay } from "@/api/roles";
import type { Approval } from "@/api/types";
import { useNow } from "@/lib/use-now";
import { Card } from "@/ui/card";
import { EmptyState } from "@/ui/empty-state";
import { ButtonLink, Link } from "@/ui/link";
import { Loaded } from "@/ui/loaded";
import { PageHeader } from "@/ui/page-header";
import { SafeText } from "@/ui/safe-text";
import { RelativeTime } from "@/ui/time";

import { mostPressing, riskOf } from "./model";
import { RiskBadge } from "./risk-badge";

/** All that people are asked: what presses most first, then the longest waiting. */
export function ApprovalsPage() {
  const approvals = useQuery(approvalsQuery());
  const sorted = useByPressure();
  return (
    <>
      <PageHeader
        title="Approvals"
        description="Steps that wait for a person. Nothing of them runs before somebody says yes."
      />
      <Loaded query={approvals} lines={5}>
        {(asked) =>
          asked.length === 0 ? (
            <NothingAsked />
          ) : (
            <ul className="flex flex-col gap-3">
              {sorted(asked).map((one) => (
                <li key={one.approval_id}>
                  <Asked approval={one} />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </>
  );
}

/** A question stands in an order that waits, or beside one that goes on. */
const ASKING = { status: ["waiting", "running"] } as const;

function useByPressure(): (asked: readonly Approval[]) => Approval[] {
  const now = useNow();
  const orders = useQuery(orderPageQuery(ASKING, 0)).data?.agent_work_orders ?? [];
  return (asked) => mostPressing(asked, orders, now);
}

function NothingAsked() {
  return (
    <Card>
      <EmptyState
        icon={CircleCheckBig}
        title="Nothing waits for you"
        action={
          <ButtonLink to="/workflows" size="sm">
            See which workflows ask
          </ButtonLink>
        }
      >
        When a workflow reaches a step that needs approval, it appears here and in the inbox.
      </EmptyState>
    </Card>
  );
}

function Asked({ approval }: { approval: Approval }) {
  const { allowed: mayApprove } = useMay("approve");
  const risk = riskOf(approval);
  return (
    <Card>
      <div className="flex flex-wrap items-start gap-x-4 gap-y-3">
        <div className="min-w-0 flex-1 basis-64">
          <p className="font-medium break-words">
            <SafeText text={approval.message || `Run ${approval.task}?`} max={500} lines />
          </p>
          <p className="mt-1 flex flex-wrap items-center gap-x-3 gap-y-1 text-[13px] text-ink-soft">
            {risk && <RiskBadge risk={risk} />}
            <span>
              Task <SafeText className="font-mono break-all" text={approval.task} max={120} />
            </span>
            <Link to="/orders/$orderId" params={{ orderId: approval.agent_work_order_id }}>
              <SafeText className="font-mono" text={approval.agent_work_order_id} />
            </Link>
            <span>
              asked <RelativeTime value={approval.asked_at} />
            </span>
            {approval.expires_at && (
              <span>
                expires <RelativeTime value={approval.expires_at} />
              </span>
            )}
          </p>
        </div>
        <ButtonLink
          to="/approvals/$"
          params={{ _splat: approval.approval_id }}
          variant={mayApprove ? "primary" : "secondary"}
          aria-label={`${mayApprove ? "Review" : "Look at"}: ${approval.message || approval.task}`}
        >
          {mayApprove ? "Review" : "Look at it"}
        </ButtonLink>
      </div>
    </Card>
  );
}
