import "@xyflow/react/dist/base.css";
import "./task-graph.css";

import {
  Background,
  MiniMap,
  Panel,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  useStore,
} from "@xyflow/react";
import { Maximize, Minus, Plus } from "lucide-react";
import { useEffect, useMemo, useRef, type FocusEvent } from "react";

import type { Graph } from "@/lib/graph";
import type { Direction } from "@/lib/graph-layout";
import { cx } from "@/ui/cx";
import { IconButton } from "@/ui/icon-button";
import { flowOf, type FlowNode } from "@/ui/task-graph/flow";
import { lookOf, ScopeNode, TaskNode } from "@/ui/task-graph/task-node";

export interface TaskGraphProps {
  graph: Graph;
  selected: string | null;
  onSelect: (id: string) => void;
  /** Fold or unfold a scope. */
  onToggle: (id: string) => void;
  direction?: Direction;
  /** Names the region. */
  label: string;
  className?: string;
}

const NODE_TYPES = { task: TaskNode, scope: ScopeNode };
/** Not smaller than that a finger hits its buttons; a graph that needs more room is moved. */
const FIT = { padding: 0.08, minZoom: 0.5, maxZoom: 1 };
/** From so many nodes on only those in sight are drawn, and a map helps to find the others. */
const MANY = 150;
const MAP_FROM = 12;

/** Tasks as boxes and arrows, to look at: pan by dragging, zoom by pinching or the buttons. */
export function TaskGraphCanvas(props: TaskGraphProps) {
  return (
    <div className={cx("task-graph relative", props.className)}>
      <ReactFlowProvider>
        <Canvas {...props} />
      </ReactFlowProvider>
    </div>
  );
}

function Canvas({
  graph,
  selected,
  onSelect,
  onToggle,
  direction = "right",
  label,
}: TaskGraphProps) {
  const { nodes, edges } = useMemo(
    () => flowOf({ graph, direction, selected, onSelect, onToggle }),
    [graph, direction, selected, onSelect, onToggle],
  );
  const movedRef = useRef(false);
  const reveal = useReveal();
  const isMany = nodes.length > MANY;
  return (
    <ReactFlow
      aria-label={label}
      nodes={nodes}
      edges={edges}
      nodeTypes={NODE_TYPES}
      fitView
      fitViewOptions={FIT}
      minZoom={0.1}
      maxZoom={1.5}
      nodesDraggable={false}
      nodesConnectable={false}
      nodesFocusable={false}
      edgesFocusable={false}
      elementsSelectable={false}
      disableKeyboardA11y
      zoomOnScroll={false}
      zoomOnDoubleClick={false}
      preventScrolling={false}
      onlyRenderVisibleElements={isMany}
      onFocus={reveal}
      onMoveStart={(event) => {
        if (event) movedRef.current = true;
      }}
    >
      <Background gap={20} size={1} />
      <View structure={nodes.map((node) => node.id).join("\n")} movedRef={movedRef} />
      {nodes.length >= MAP_FROM && (
        <MiniMap<FlowNode>
          ariaLabel="Map of the graph"
          pannable
          className="max-sm:hidden"
          nodeColor={(node) => `var(--tone-${lookOf(node.data.node).tone}-wash)`}
          nodeStrokeColor={(node) => `var(--tone-${lookOf(node.data.node).tone})`}
        />
      )}
    </ReactFlow>
  );
}

/** Brings what the keyboard has reached into sight. */
function useReveal() {
  const { getInternalNode, setCenter, getViewport } = useReactFlow<FlowNode>();
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  return (event: FocusEvent<HTMLElement>) => {
    const target = event.target.closest<HTMLElement>("[data-task]");
    const node = getInternalNode(target?.dataset["task"] ?? "");
    if (!node || !target?.matches(":focus-visible")) return;
    const { x, y, zoom } = getViewport();
    const at = node.internals.positionAbsolute;
    const left = at.x * zoom + x;
    const top = at.y * zoom + y;
    const isInSight = left >= 0 && top >= 0 && left < width - 100 && top < height - 40;
    if (!isInSight) void setCenter(at.x + 110, at.y + 32, { zoom });
  };
}

/** The buttons, and what keeps all in sight until a person has moved the picture. */
function View({ structure, movedRef }: { structure: string; movedRef: { current: boolean } }) {
  const { fitView, zoomIn, zoomOut } = useReactFlow();
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);

  // Outside system: xyflow's viewport. More nodes or less room: show everything again.
  useEffect(() => {
    if (!movedRef.current && width > 0 && height > 0) void fitView(FIT);
  }, [structure, width, height, fitView, movedRef]);

  return (
    <Panel position="bottom-left" className="flex rounded-md border border-line bg-raised">
      <IconButton label="Zoom in" icon={Plus} size="sm" onClick={() => void zoomIn()} />
      <IconButton label="Zoom out" icon={Minus} size="sm" onClick={() => void zoomOut()} />
      <IconButton
        label="Show the whole graph"
        icon={Maximize}
        size="sm"
        onClick={() => {
          movedRef.current = false;
          void fitView(FIT);
        }}
      />
    </Panel>
  );
}
