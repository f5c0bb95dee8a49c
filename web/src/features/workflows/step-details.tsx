import { Hand } from "lucide-react";

import type { WorkflowTask } from "@/api/types";
import { Badge } from "@/ui/badge";
import { cx } from "@/ui/cx";
import { SafeText } from "@/ui/safe-text";

interface StepDetailsProps {
  tasks: readonly WorkflowTask[];
  selected: WorkflowTask | null;
  onSelect: (id: string) => void;
}

/** The steps as a list, equal to the graph for those who do not see it. */
export function StepDetails({ tasks, selected, onSelect }: StepDetailsProps) {
  return (
    <ul className="max-h-64 overflow-y-auto border-t border-line p-1.5" aria-label="Steps">
      {tasks.map((task) => (
        <li key={task.id}>
          <button
            type="button"
            aria-pressed={task === selected}
            onClick={() => onSelect(task.id)}
            className={cx(
              "flex w-full cursor-pointer flex-wrap items-center gap-x-3 gap-y-0.5 rounded-md px-2.5 py-1.5 text-left hover:bg-hover",
              task === selected && "bg-accent-wash",
            )}
          >
            <SafeText className="font-medium break-all" text={task.id} max={120} />
            <SafeText
              className="text-[13px] break-all text-ink-soft"
              text={task.uses ?? task.kind}
              max={80}
            />
            {task.needs.length > 0 && (
              <span className="text-[13px] break-all text-ink-faint">
                after <SafeText text={task.needs.join(", ")} max={120} />
              </span>
            )}
            {task.phase && <Badge>{task.phase}</Badge>}
            {task.approval !== null && (
              <Badge tone="attention" icon={Hand}>
                Asks first
              </Badge>
            )}
            {task.risk === "high" && <Badge tone="bad">High risk</Badge>}
          </button>
        </li>
      ))}
    </ul>
  );
}
