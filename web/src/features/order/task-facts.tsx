import type { ReactNode } from "react";

import type { Task } from "@/api/types";
import { sentence } from "@/lib/explain";
import { compact } from "@/lib/money";
import { plural } from "@/lib/text";
import { Money } from "@/ui/money";
import { SafeText } from "@/ui/safe-text";
import { Duration, RelativeTime } from "@/ui/time";

/** What is known of a task, line by line. */
export function TaskFacts({ task }: { task: Task }) {
  return (
    <dl className="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-4 gap-y-1 text-[13px]">
      {task.uses && (
        <Row name="Uses">
          <SafeText className="font-mono break-words" text={task.uses} max={200} />
        </Row>
      )}
      {task.phase && <Row name="Phase">{task.phase}</Row>}
      {task.needs.length > 0 && (
        <Row name="Needs">
          <SafeText className="break-words" text={task.needs.join(", ")} max={400} />
        </Row>
      )}
      {task.attempt > 0 && <Row name="Attempt">{task.attempt}</Row>}
      {task.iterations !== null && <Row name="Rounds">{task.iterations}</Row>}
      {task.items !== null && <Row name="Items">{task.items}</Row>}
      <Row name="Risk">{task.risk}</Row>
      {task.started_at && (
        <Row name="Started">
          <RelativeTime value={task.started_at} />
        </Row>
      )}
      {task.started_at && (task.ended_at !== null || task.state === "running") && (
        <Row name={task.ended_at ? "Took" : "For"}>
          <Duration from={task.started_at} to={task.ended_at} />
        </Row>
      )}
      {task.usage && <Used usage={task.usage} />}
      {task.waiting_reason && (
        <Row name="Waits for">
          <SafeText text={sentence(task.waiting_reason)} max={200} />
          {task.waiting_until && (
            <>
              , until <RelativeTime value={task.waiting_until} />
            </>
          )}
        </Row>
      )}
    </dl>
  );
}

function Used({ usage }: { usage: NonNullable<Task["usage"]> }) {
  return (
    <>
      {usage.model && (
        <Row name="Model">
          <SafeText className="font-mono break-words" text={usage.model} max={128} />
        </Row>
      )}
      <Row name="Used">
        {plural(usage.turns, "turn")}, {compact(usage.input_tokens)} tokens in,{" "}
        {compact(usage.output_tokens)} out
      </Row>
      <Row name="Cost">
        <Money usd={usage.cost_usd} certainty={usage.cost_certainty} />
      </Row>
    </>
  );
}

function Row({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-ink-faint">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  );
}
