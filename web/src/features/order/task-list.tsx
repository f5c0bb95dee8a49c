import { ChevronDown, ChevronRight } from "lucide-react";
import { useState } from "react";

import type { Task } from "@/api/types";
import type { Graph, GraphNode } from "@/lib/graph";
import { clean, plural } from "@/lib/text";
import { Button } from "@/ui/button";
import { cx } from "@/ui/cx";
import { SafeText } from "@/ui/safe-text";
import { TaskStateBadge } from "@/ui/status-badge";
import { Duration } from "@/ui/time";

export interface TaskListProps {
  graph: Graph<Task>;
  selected: string | null;
  onSelect: (path: string) => void;
  onToggle: (path: string) => void;
}

type Node = GraphNode<Task>;

/** So many of one scope are shown at first; a fan-out may have thousands. */
const FIRST = 100;

/** The same tasks as the graph, as nested lists: quick to read, and for screen readers. */
export function TaskList(props: TaskListProps) {
  const inside = new Map<string | null, Node[]>();
  for (const node of props.graph.nodes) {
    const siblings = inside.get(node.parent);
    if (siblings) siblings.push(node);
    else inside.set(node.parent, [node]);
  }
  return <Level {...props} inside={inside} parent={null} depth={0} />;
}

interface LevelProps extends TaskListProps {
  inside: ReadonlyMap<string | null, Node[]>;
  parent: Node | null;
  depth: number;
}

function Level({ inside, parent, depth, ...rest }: LevelProps) {
  const [shown, setShown] = useState(FIRST);
  const nodes = inside.get(parent?.id ?? null) ?? [];
  return (
    <ul
      aria-label={parent ? `Inside ${clean(parent.label)}` : "Tasks"}
      className={cx(depth > 0 && "ml-4 border-l border-line pl-1")}
    >
      {nodes.slice(0, shown).map((node) => (
        <li key={node.id}>
          <Row node={node} {...rest} />
          {node.unfolded && <Level {...rest} inside={inside} parent={node} depth={depth + 1} />}
        </li>
      ))}
      {nodes.length > shown && (
        <li className="px-3 py-1.5">
          <Button size="sm" onClick={() => setShown(shown + 10 * FIRST)}>
            Show {plural(Math.min(nodes.length - shown, 10 * FIRST), "more task")}
          </Button>
        </li>
      )}
    </ul>
  );
}

type RowProps = Pick<TaskListProps, "selected" | "onSelect" | "onToggle"> & { node: Node };

function Row({ node, selected, onSelect, onToggle }: RowProps) {
  const { task } = node;
  const Fold = node.unfolded ? ChevronDown : ChevronRight;
  const isSelected = node.id === selected;
  return (
    <div className={cx("flex items-stretch rounded-md", isSelected && "bg-accent-wash")}>
      {node.foldable ? (
        <button
          type="button"
          aria-expanded={node.unfolded}
          aria-label={`${node.unfolded ? "Fold" : "Unfold"} ${clean(node.label)}`}
          className="flex w-7 shrink-0 cursor-pointer items-center justify-center rounded-md text-ink-faint -outline-offset-2 hover:bg-hover hover:text-ink"
          onClick={() => onToggle(node.id)}
        >
          <Fold aria-hidden className="size-4" />
        </button>
      ) : (
        <span className="w-7 shrink-0" />
      )}
      <button
        type="button"
        data-task={node.id}
        aria-pressed={isSelected}
        className="flex min-h-9 min-w-0 flex-1 cursor-pointer flex-wrap items-center gap-x-3 gap-y-0.5 rounded-md px-2 py-1.5 text-left -outline-offset-2 hover:bg-hover"
        onClick={() => onSelect(node.id)}
      >
        <SafeText className="min-w-0 truncate font-medium" text={node.label} max={120} />
        <span className="min-w-0 flex-1 truncate text-[13px] text-ink-faint">
          <SafeText text={node.summary ?? node.uses ?? node.kind} max={200} />
        </span>
        {task && task.attempt > 1 && (
          <span className="text-[13px] text-ink-faint">attempt {task.attempt}</span>
        )}
        {task?.started_at && (
          <Duration
            className="text-[13px] text-ink-faint"
            from={task.started_at}
            to={task.ended_at ?? (task.state === "running" ? null : task.started_at)}
          />
        )}
        {node.state && <TaskStateBadge state={node.state} />}
      </button>
    </div>
  );
}
