import { useQuery } from "@tanstack/react-query";

import { orderApprovalsQuery, useDecide } from "@/api/approvals";
import { useMay } from "@/api/roles";
import type { Approval } from "@/api/types";
import { COMMENT_LIMIT, type Decision } from "@/lib/decision";
import { Card } from "@/ui/card";
import { DecisionForm } from "@/ui/decision-form";
import { ButtonLink } from "@/ui/link";
import { SafeText } from "@/ui/safe-text";
import { RelativeTime } from "@/ui/time";
import { toast } from "@/ui/toast";

import { closedBecause } from "./model";

/** Yes or no, with an optional comment; once decided, what was said and by whom. */
export function Decide({ approval }: { approval: Approval }) {
  const decide = useDecide();
  const { why } = useMay("approve");
  const closed = closedBecause(approval);
  if (closed !== null && !decide.isPending) {
    return <Decided approval={approval} why={closed} />;
  }
  const say = (decision: Decision, comment: string) =>
    decide.mutate(
      { approval, decision, comment },
      {
        onSuccess: () =>
          toast({
            title: decision === "approve" ? "Approved" : "Rejected",
            description:
              decision === "approve"
                ? "The work order goes on."
                : "The step is not run; the work order ends or takes its other way.",
            tone: decision === "approve" ? "good" : "neutral",
          }),
      },
    );
  return (
    <Card title="Your decision">
      {why !== null ? (
        <p className="text-ink-soft">{why}</p>
      ) : (
        <DecisionForm
          sending={decide.isPending ? decide.variables.decision : null}
          error={decide.error}
          onDecide={say}
        />
      )}
    </Card>
  );
}

function Decided({ approval, why }: { approval: Approval; why: string }) {
  return (
    <Card title="Decision">
      <p>{why}</p>
      {approval.state === "void" && <AskedAgain approval={approval} />}
      {approval.decided_by && (
        <p className="mt-2 text-[13px] text-ink-soft">
          by <SafeText text={approval.decided_by} max={100} />,{" "}
          <RelativeTime value={approval.decided_at} />
        </p>
      )}
      {approval.comment && (
        <blockquote className="mt-2 border-l-2 border-line-strong pl-3 text-ink-soft">
          <SafeText text={approval.comment} max={COMMENT_LIMIT} lines />
        </blockquote>
      )}
    </Card>
  );
}

/** The way to the question that has taken the place of one that is void. */
function AskedAgain({ approval }: { approval: Approval }) {
  const { data } = useQuery(orderApprovalsQuery(approval.agent_work_order_id));
  const now = data?.find((other) => other.task === approval.task && other.state === "asked");
  if (now === undefined) return null;
  return (
    <ButtonLink
      to="/approvals/$"
      params={{ _splat: now.approval_id }}
      size="sm"
      variant="primary"
      className="mt-3"
    >
      See what is asked now
    </ButtonLink>
  );
}
