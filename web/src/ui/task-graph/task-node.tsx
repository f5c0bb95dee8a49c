import { Handle, Position, type NodeProps } from "@xyflow/react";
import { Boxes, Box, ChevronDown, ChevronRight, ListTree, Repeat, Workflow } from "lucide-react";
import { memo } from "react";

import type { GraphNode } from "@/lib/graph";
import type { Direction } from "@/lib/graph-layout";
import { clean } from "@/lib/text";
import { cx } from "@/ui/cx";
import { SafeText } from "@/ui/safe-text";
import { TASK_LOOK } from "@/ui/status";
import type { FlowNode } from "@/ui/task-graph/flow";
import { TONE_TEXT, type Look } from "@/ui/tone";

const KIND_ICON = { repeat: Repeat, foreach: ListTree, group: Boxes, workflow: Workflow } as const;

/** What a node looks like: its state, or in a workflow, which does not run, its kind. */
export function lookOf(node: GraphNode): Look {
  if (node.state !== null) return TASK_LOOK[node.state];
  const icon = Object.entries(KIND_ICON).find(([kind]) => kind === node.kind)?.[1] ?? Box;
  return { label: "", icon, tone: "neutral" };
}

function FoldButton({ node, onToggle }: { node: GraphNode; onToggle: (id: string) => void }) {
  const Icon = node.unfolded ? ChevronDown : ChevronRight;
  return (
    <button
      type="button"
      aria-expanded={node.unfolded}
      aria-label={`${node.unfolded ? "Fold" : "Unfold"} ${clean(node.label)}`}
      className="nopan pointer-events-auto flex w-12 shrink-0 cursor-pointer items-center justify-center rounded-md text-ink-faint -outline-offset-2 hover:bg-hover hover:text-ink"
      onClick={() => onToggle(node.id)}
    >
      <Icon aria-hidden className="size-4" />
    </button>
  );
}

function NodeButton({ data, className }: { data: FlowNode["data"]; className?: string }) {
  const { node, isSelected, onSelect } = data;
  const look = lookOf(node);
  const Icon = look.icon;
  const detail = node.summary ?? node.uses ?? node.kind;
  return (
    <button
      type="button"
      data-task={node.id}
      data-state={look.label}
      aria-pressed={isSelected}
      className={cx(
        "nopan pointer-events-auto flex min-w-0 flex-1 cursor-pointer items-center gap-2.5 rounded-md pl-3 text-left -outline-offset-2 hover:bg-hover",
        node.foldable ? "pr-1" : "pr-3",
        className,
      )}
      onClick={() => onSelect(node.id)}
    >
      <Icon
        aria-hidden
        className={cx(
          "size-4.5 shrink-0",
          TONE_TEXT[look.tone],
          node.state === "running" && "motion-safe:animate-spin",
        )}
      />
      <span className="min-w-0 flex-1">
        <span className="flex items-baseline gap-2">
          <SafeText className="min-w-0 flex-1 truncate font-medium" text={node.label} />
          <span className={cx("shrink-0 text-xs", TONE_TEXT[look.tone])}>{look.label}</span>
        </span>
        <SafeText
          className="block truncate text-xs text-ink-faint"
          title={clean(detail)}
          text={detail}
        />
      </span>
    </button>
  );
}

/** Where edges begin and end; never seen. */
function Ends({ direction }: { direction: Direction }) {
  const isRight = direction === "right";
  return (
    <>
      <Handle
        type="target"
        position={isRight ? Position.Left : Position.Top}
        isConnectable={false}
        className="invisible"
      />
      <Handle
        type="source"
        position={isRight ? Position.Right : Position.Bottom}
        isConnectable={false}
        className="invisible"
      />
    </>
  );
}

const FRAME = "flex h-full w-full rounded-lg border p-0.5";

export const TaskNode = memo(function TaskNode({ data }: NodeProps<FlowNode>) {
  const { node, isSelected, onToggle } = data;
  return (
    <div
      className={cx(
        FRAME,
        "bg-surface",
        isSelected ? "border-accent ring-2 ring-accent/40" : "border-line-strong/60",
        node.state === "pending" && "border-dashed",
        node.foldable && "shadow-[3px_3px_0_-1px_var(--surface),3px_3px_0_0_var(--line-strong)]",
      )}
    >
      <Ends direction={data.direction} />
      <NodeButton data={data} />
      {node.foldable && <FoldButton node={node} onToggle={onToggle} />}
    </div>
  );
});

/** An unfolded scope: a box whose first line is its name. */
export const ScopeNode = memo(function ScopeNode({ data }: NodeProps<FlowNode>) {
  const { node, isSelected, onToggle } = data;
  return (
    <div
      className={cx(
        FRAME,
        "bg-sunken/70",
        isSelected ? "border-accent ring-2 ring-accent/40" : "border-line-strong/60",
      )}
    >
      <Ends direction={data.direction} />
      <div className="flex h-11 min-w-0 flex-1">
        <NodeButton data={data} />
        <FoldButton node={node} onToggle={onToggle} />
      </div>
    </div>
  );
});
