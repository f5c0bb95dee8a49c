/** From the folded graph and its layout to the nodes and edges that xyflow draws. */

import { MarkerType, Position, type Edge, type Node } from "@xyflow/react";

import type { Graph, GraphNode } from "@/lib/graph";
import { layout, type Box, type Direction } from "@/lib/graph-layout";

export interface NodeData extends Record<string, unknown> {
  node: GraphNode;
  isSelected: boolean;
  direction: Direction;
  onSelect: (id: string) => void;
  onToggle: (id: string) => void;
}

export type FlowNode = Node<NodeData, "task" | "scope">;

export interface FlowInput {
  graph: Graph;
  direction: Direction;
  selected: string | null;
  onSelect: (id: string) => void;
  onToggle: (id: string) => void;
}

/** Sizes and handles are given, so that edges stand from the first frame and never blink. */
export function flowOf({ graph, direction, selected, onSelect, onToggle }: FlowInput): {
  nodes: FlowNode[];
  edges: Edge[];
} {
  const { boxes } = layout(graph, { direction });
  const nodes = graph.nodes.map((node): FlowNode => {
    const box = boxes.get(node.id) ?? { x: 0, y: 0, width: 0, height: 0 };
    const size = { width: box.width, height: box.height };
    return {
      id: node.id,
      type: node.unfolded ? "scope" : "task",
      ariaRole: "group",
      position: { x: box.x, y: box.y },
      ...(node.parent !== null && { parentId: node.parent }),
      ...size,
      measured: size,
      handles: handlesOf(box, direction),
      data: { node, isSelected: node.id === selected, direction, onSelect, onToggle },
    };
  });
  const states = new Map(graph.nodes.map((node) => [node.id, node.state]));
  const edges = graph.edges.map((edge): Edge => ({
    ...edge,
    type: "smoothstep",
    animated: states.get(edge.target) === "running",
    markerEnd: { type: MarkerType.ArrowClosed, width: 16, height: 16 },
    focusable: false,
  }));
  return { nodes, edges };
}

function handlesOf({ width, height }: Box, direction: Direction) {
  const point = { width: 1, height: 1 };
  return direction === "right"
    ? [
        { ...point, type: "target" as const, position: Position.Left, x: 0, y: height / 2 },
        {
          ...point,
          type: "source" as const,
          position: Position.Right,
          x: width - 1,
          y: height / 2,
        },
      ]
    : [
        { ...point, type: "target" as const, position: Position.Top, x: width / 2, y: 0 },
        {
          ...point,
          type: "source" as const,
          position: Position.Bottom,
          x: width / 2,
          y: height - 1,
        },
      ];
}
