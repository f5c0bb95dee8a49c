import { Check, X } from "lucide-react";
import { useState } from "react";

import { useDecide } from "@/api/approvals";
import { useMay } from "@/api/roles";
import type { Approval } from "@/api/types";
import { Button } from "@/ui/button";
import { Card } from "@/ui/card";
import { ErrorState } from "@/ui/error-state";
import { Field } from "@/ui/field";
import { SafeText } from "@/ui/safe-text";
import { TextArea } from "@/ui/text-input";
import { RelativeTime } from "@/ui/time";
import { toast } from "@/ui/toast";

import { closedBecause } from "./model";

const COMMENT_LIMIT = 4000;

/** Yes or no, with an optional comment; once decided, what was said and by whom. */
export function Decide({ approval }: { approval: Approval }) {
  const [comment, setComment] = useState("");
  const decide = useDecide();
  const { why } = useMay("approve");
  const closed = closedBecause(approval);
  if (closed !== null && !decide.isPending) {
    return <Decided approval={approval} why={closed} />;
  }
  if (why !== null) {
    return (
      <Card title="Your decision">
        <p className="text-ink-soft">{why}</p>
      </Card>
    );
  }
  const say = (decision: "approve" | "reject") =>
    decide.mutate(
      { approval, decision, comment: comment.trim() },
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
      <div className="flex flex-col gap-3">
        <Field label="Comment" hint="Kept with the decision; the agent may read it.">
          <TextArea
            rows={3}
            maxLength={COMMENT_LIMIT}
            value={comment}
            onChange={(event) => setComment(event.target.value)}
          />
        </Field>
        <div className="flex flex-wrap gap-2">
          <Button
            variant="primary"
            icon={Check}
            busy={decide.isPending && decide.variables.decision === "approve"}
            disabled={decide.isPending && decide.variables.decision === "reject"}
            onClick={() => say("approve")}
          >
            Approve
          </Button>
          <Button
            variant="danger"
            icon={X}
            busy={decide.isPending && decide.variables.decision === "reject"}
            disabled={decide.isPending && decide.variables.decision === "approve"}
            onClick={() => say("reject")}
          >
            Reject
          </Button>
        </div>
        {decide.isError && <ErrorState error={decide.error} />}
      </div>
    </Card>
  );
}

function Decided({ approval, why }: { approval: Approval; why: string }) {
  return (
    <Card title="Decision">
      <p>{why}</p>
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
