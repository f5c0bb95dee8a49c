import { X } from "lucide-react";

import type { Order, Task } from "@/api/types";
import { COMMENT_LIMIT } from "@/lib/decision";
import { sentence } from "@/lib/explain";
import { useShortcuts } from "@/lib/shortcuts";
import { CodeBlock } from "@/ui/code";
import { IconButton } from "@/ui/icon-button";
import { ButtonLink } from "@/ui/link";
import { SafeText } from "@/ui/safe-text";
import { TaskStateBadge } from "@/ui/status-badge";
import { jsonText } from "./model";
import { TaskDecisions } from "./task-decisions";
import { TaskFacts } from "./task-facts";

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
      <TaskFacts task={task} />
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
