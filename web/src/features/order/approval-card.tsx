import { ShieldQuestion } from "lucide-react";

import { useDecide } from "@/api/approvals";
import { useMay } from "@/api/roles";
import type { Approval } from "@/api/types";
import type { Decision } from "@/lib/decision";
import { CodeBlock } from "@/ui/code";
import { CopyButton } from "@/ui/copy-button";
import { DecisionForm } from "@/ui/decision-form";
import { Link } from "@/ui/link";
import { SafeText } from "@/ui/safe-text";
import { RelativeTime } from "@/ui/time";
import { toast } from "@/ui/toast";
import { approversOf, jsonText } from "./model";

/** A question that the order asks now, with exactly what is decided about. It stays until an answer
 * to it has arrived: who is refused sees why, and has the comment still. */
export function ApprovalCard({ approval }: { approval: Approval }) {
  const { why } = useMay("approve");
  const decide = useDecide();
  if (approval.state !== "asked" && !decide.isPending) return null;
  const named = approversOf(approval).join(" or ");
  const subject = jsonText(approval.subject, 6000);
  const say = (decision: Decision, comment: string) =>
    decide.mutate(
      { approval, decision, comment },
      { onSuccess: () => toast({ title: decision === "approve" ? "Approved" : "Rejected" }) },
    );
  return (
    <section
      aria-label="Approval asked for"
      className="rounded-lg border border-attention/50 bg-surface"
    >
      <div className="flex gap-3 rounded-t-lg bg-attention-wash px-4 py-3">
        <ShieldQuestion aria-hidden className="mt-0.5 size-5 shrink-0 text-attention" />
        <div className="min-w-0 flex-1">
          <h2 className="font-semibold break-words">
            <SafeText text={approval.message || "An approval is asked for"} max={2000} lines />
          </h2>
          <p className="mt-0.5 text-[13px] text-ink-soft">
            Task <SafeText className="font-mono" text={approval.task} max={200} /> · asked{" "}
            <RelativeTime value={approval.asked_at} />
            {named && (
              <>
                · only <SafeText className="font-mono" text={named} max={300} /> decides{" "}
              </>
            )}
            {approval.expires_at && (
              <>
                {" "}
                · expires <RelativeTime value={approval.expires_at} />
              </>
            )}
          </p>
        </div>
      </div>
      <div className="space-y-3 p-4">
        <CodeBlock
          label="what is asked for"
          text={subject.text + (subject.cut ? "\n…" : "")}
          wrap
          copy={false}
          className="max-h-56"
        />
        <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-soft">
          <span className="inline-flex min-w-0 items-center">
            Hash
            <SafeText className="ml-1 font-mono" text={approval.subject_hash} max={20} />
            <CopyButton text={approval.subject_hash} label="Copy the hash" />
          </span>
          <Link to="/approvals/$" params={{ _splat: approval.approval_id }}>
            Look at it in full
          </Link>
        </p>
        {why !== null ? (
          <p className="text-ink-soft">{why}</p>
        ) : (
          <DecisionForm
            sending={decide.isPending ? decide.variables.decision : null}
            error={decide.error}
            rows={2}
            onDecide={say}
          />
        )}
      </div>
    </section>
  );
}
