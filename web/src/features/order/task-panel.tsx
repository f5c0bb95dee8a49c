import { X } from "lucide-react";
import type { ReactNode } from "react";

import type { Order, Task } from "@/api/types";
import { COMMENT_LIMIT } from "@/lib/decision";
import { sentence } from "@/lib/explain";
import { compact } from "@/lib/money";
import { useShortcuts } from "@/lib/shortcuts";
import { plural } from "@/lib/text";
import { CodeBlock } from "@/ui/code";
import { IconButton } from "@/ui/icon-button";
import { ButtonLink } from "@/ui/link";
import { Money } from "@/ui/money";
import { SafeText } from "@/ui/safe-text";
import { TaskStateBadge } from "@/ui/status-badge";
import { Duration, RelativeTime } from "@/ui/time";
import { jsonText } from "./model";
import { TaskDecisions } from "./task-decisions";

export interface TaskPanelProps {
  order: Order;
  task: Task;
}

/** One task: where it stands, what it gave, why it failed, and what can be decided. */
export function TaskDetails({ order, task }: TaskPanelProps) {
  const hasOutputs =
    task.outputs !== null && task.outputs !== undefined && JSON.stringify(task.outputs) !== "{}";
  return (
    <div className="space-y-4">
      <div className="flex flex-wrap items-center gap-2">
        <TaskStateBadge state={task.state} />
        {task.tolerated && <span className="text-[13px] text-ink-soft">failure tolerated</span>}
        {task.undone && (
          <span className="text-[13px] text-ink-soft">
            undo: <SafeText text={sentence(task.undone)} max={60} />
          </span>
        )}
      </div>
      <Facts task={task} />
      {task.failure && <FailureNote failure={task.failure} />}
      {task.denials.length > 0 && <Denials denials={task.denials} />}
      {task.approval && <ApprovalNote approval={task.approval} />}
      {hasOutputs && <Outputs value={task.outputs} />}
      {task.uses?.startsWith("agent.") && task.started_at && (
        <ButtonLink
          size="sm"
          to="/orders/$orderId"
          params={{ orderId: order.agent_work_order_id }}
          search={{ tab: "transcript", task: task.path }}
        >
          Read its transcript
        </ButtonLink>
      )}
      <TaskDecisions order={order} task={task} />
    </div>
  );
}

/** Beside the graph on wide screens. */
export function TaskPanel({ onClose, ...props }: TaskPanelProps & { onClose: () => void }) {
  useShortcuts([{ keys: "escape", label: "Close the task", group: "This order", run: onClose }]);
  return (
    <aside aria-label="Task" className="min-w-0 border-line p-4 lg:border-l">
      <div className="mb-3 flex items-start justify-between gap-2">
        <h3 className="min-w-0 font-semibold break-words">
          <SafeText text={props.task.path} max={300} />
        </h3>
        <IconButton label="Close the task" icon={X} size="sm" onClick={onClose} />
      </div>
      <TaskDetails {...props} />
    </aside>
  );
}

function Facts({ task }: { task: Task }) {
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

/** What the agent asked for and was not allowed to do. Its own words: only text. */
function Denials({ denials }: { denials: readonly string[] }) {
  return (
    <section aria-label="Not allowed">
      <h4 className="text-[13px] font-medium">Not allowed</h4>
      <ul className="mt-1 space-y-0.5 text-[13px] text-ink-soft">
        {denials.map((denial, at) => (
          <li key={at}>
            <SafeText className="font-mono text-xs break-words" text={denial} max={320} />
          </li>
        ))}
      </ul>
    </section>
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

function FailureNote({ failure }: { failure: NonNullable<Task["failure"]> }) {
  return (
    <div className="rounded-md border border-bad/40 bg-bad-wash px-3 py-2">
      <p className="max-h-48 overflow-y-auto font-medium text-bad">
        <SafeText text={failure.message} max={4000} lines />
      </p>
      {failure.hint && (
        <p className="mt-1 break-words">
          <SafeText text={failure.hint} max={2000} />
        </p>
      )}
      <p className="mt-1 text-xs text-ink-soft">
        <SafeText className="font-mono" text={failure.code} max={100} /> ·{" "}
        <SafeText text={failure.category} max={60} />
      </p>
    </div>
  );
}

function ApprovalNote({ approval }: { approval: NonNullable<Task["approval"]> }) {
  return (
    <div className="rounded-md border border-line bg-sunken px-3 py-2 text-[13px]">
      <p className="font-medium break-words">
        <SafeText text={approval.message} max={1000} lines />
      </p>
      <p className="mt-0.5 text-ink-soft">
        {approval.decision ? (
          <>
            <SafeText text={approval.decision} max={40} />
            {approval.by && (
              <>
                {" "}
                by <SafeText text={approval.by} max={80} />
              </>
            )}
          </>
        ) : (
          "Not decided yet"
        )}
      </p>
      {approval.comment && (
        <p className="mt-1">
          <SafeText text={approval.comment} max={COMMENT_LIMIT} lines />
        </p>
      )}
    </div>
  );
}

function Outputs({ value }: { value: unknown }) {
  const { text, cut } = jsonText(value);
  return (
    <div>
      <p className="mb-1 text-[13px] font-medium">Outputs</p>
      <CodeBlock label="outputs" text={text} wrap className="max-h-80 text-xs" />
      {cut && <p className="mt-1 text-xs text-ink-faint">Cut here; the API has the rest.</p>}
    </div>
  );
}
