import { Check, X } from "lucide-react";
import { useState } from "react";

import { COMMENT_LIMIT, type Decision } from "@/lib/decision";
import { Button } from "@/ui/button";
import { ErrorState } from "@/ui/error-state";
import { Field } from "@/ui/field";
import { TextArea } from "@/ui/text-input";

export interface DecisionFormProps {
  /** Which answer is on its way. */
  sending: Decision | null;
  /** Why the last answer was not taken; null when nothing is wrong. */
  error: unknown;
  rows?: number;
  onDecide: (decision: Decision, comment: string) => void;
}

/** Yes or no, with an optional comment. */
export function DecisionForm({ sending, error, rows = 3, onDecide }: DecisionFormProps) {
  const [comment, setComment] = useState("");
  const answer = (decision: Decision) => ({
    busy: sending === decision,
    disabled: sending !== null && sending !== decision,
    onClick: () => onDecide(decision, comment.trim()),
  });
  return (
    <div className="flex flex-col gap-3">
      <Field label="Comment" hint="Kept with the decision; the agent may read it.">
        <TextArea
          rows={rows}
          maxLength={COMMENT_LIMIT}
          value={comment}
          onChange={(event) => setComment(event.target.value)}
        />
      </Field>
      <div className="flex flex-wrap gap-2">
        <Button variant="primary" icon={Check} {...answer("approve")}>
          Approve
        </Button>
        <Button variant="danger" icon={X} {...answer("reject")}>
          Reject
        </Button>
      </div>
      {error !== null && <ErrorState error={error} />}
    </div>
  );
}
