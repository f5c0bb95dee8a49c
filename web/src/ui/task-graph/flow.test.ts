import { ReactFlowProvider } from "@xyflow/react";
import { render, screen } from "@testing-library/react";
import { createElement } from "react";
import { describe, expect, it } from "vitest";

import { foldTasks, type GraphNode, type GraphTask } from "@/lib/graph";
import { flowOf } from "@/ui/task-graph/flow";
import { TaskNode } from "@/ui/task-graph/task-node";

const task = (path: string, more: Partial<GraphTask> = {}): GraphTask => ({
  path,
  kind: "tool",
  uses: "agent.command",
  needs: [],
  state: "succeeded",
  ...more,
});

const TASKS = [
  task("plan"),
  task("fix", { kind: "repeat", uses: null, needs: ["plan"], state: "running", iterations: 1 }),
  task("fix[1]", { kind: "group", uses: null, state: "running" }),
  task("fix[1].build", { state: "running" }),
];

const flow = (unfolded: string[], selected: string | null = null) =>
  flowOf({
    graph: foldTasks(TASKS, new Set(unfolded)),
    direction: "right",
    selected,
    onSelect: () => {},
    onToggle: () => {},
  });

describe("flowOf", () => {
  it("gives every node a size and both ends, so that edges never wait for a measurement", () => {
    for (const node of flow(["fix", "fix[1]"]).nodes) {
      expect(node.measured).toEqual({ width: node.width, height: node.height });
      expect(node.width).toBeGreaterThan(0);
      expect(node.handles).toHaveLength(2);
    }
  });

  it("puts what is inside an unfolded scope into its box, after it", () => {
    const { nodes } = flow(["fix"], "fix[1]");
    expect(nodes.map(({ id, type, parentId }) => [id, type, parentId])).toEqual([
      ["plan", "task", undefined],
      ["fix", "scope", undefined],
      ["fix[1]", "task", "fix"],
    ]);
    expect(nodes.filter((node) => node.data.isSelected).map((node) => node.id)).toEqual(["fix[1]"]);
  });

  it("moves the edges that lead to what runs", () => {
    expect(flow([]).edges.map((edge) => [edge.source, edge.target, edge.animated])).toEqual([
      ["plan", "fix", true],
    ]);
  });
});

it("names a node with all that is seen of it", () => {
  const show = (node: GraphNode | undefined) => {
    const data = { node, isSelected: false, direction: "right" };
    const shown = createElement(TaskNode, { data } as never);
    return render(createElement(ReactFlowProvider, null, shown));
  };
  const [, fix] = foldTasks(TASKS, new Set()).nodes;
  const { unmount } = show(fix);
  expect(screen.getByRole("button", { pressed: false })).toHaveAccessibleName(
    "fix Running 1 round: 1 running",
  );
  unmount();
  const [plain] = foldTasks([task("a\u202eb", { state: null })], new Set()).nodes;
  show(plain);
  expect(screen.getByRole("button")).toHaveAccessibleName("a⟨U+202E⟩b agent.command");
});
