import { describe, expect, it } from "vitest";

import { foldTasks, fromWorkflow, labelOf, scopeOf, type GraphTask } from "./graph";
import { reduceEdges } from "./graph-edges";
import { layersOf, layout, NODE_HEIGHT, NODE_WIDTH } from "./graph-layout";
import { seeded } from "./test-random";

const task = (path: string, more: Partial<GraphTask> = {}): GraphTask => ({
  path,
  kind: "tool",
  uses: "agent.command",
  needs: [],
  state: "succeeded",
  ...more,
});

const BUILTIN = [
  task("plan"),
  task("implement", {
    kind: "repeat",
    uses: null,
    needs: ["plan"],
    state: "running",
    iterations: 2,
  }),
  task("implement[1]", { kind: "group", uses: null }),
  task("implement[1].build"),
  task("implement[1].check", { needs: ["build"] }),
  task("implement[2]", { kind: "group", uses: null, state: "running" }),
  task("implement[2].build", { state: "running" }),
  task("publish", { needs: ["plan", "implement"], state: "pending" }),
];

const fold = (tasks: GraphTask[], ...unfolded: string[]) => foldTasks(tasks, new Set(unfolded));
const ids = (graph: { nodes: { id: string }[] }) => graph.nodes.map((one) => one.id);
const arrows = (graph: { edges: { id: string }[] }) => graph.edges.map((one) => one.id);

describe("paths", () => {
  it("knows scopes and labels", () => {
    expect(scopeOf("fix[2].check")).toBe("fix[2]");
    expect(scopeOf("fix[2]")).toBe("fix");
    expect(scopeOf("fix")).toBe("");
    expect(labelOf("fix[2].check")).toBe("check");
    expect(labelOf("a.fix[12]")).toBe("#12");
  });
});

describe("foldTasks", () => {
  it("folds loops into one node with counts", () => {
    const graph = fold(BUILTIN);
    expect(ids(graph)).toEqual(["plan", "implement", "publish"]);
    expect(arrows(graph)).toEqual(["plan→implement", "implement→publish"]);
    const loop = graph.nodes[1];
    expect(loop).toMatchObject({ foldable: true, unfolded: false, state: "running", total: 2 });
    expect(loop?.summary).toBe("2 rounds: 1 done, 1 running");
  });

  it("unfolds scope by scope", () => {
    const rounds = fold(BUILTIN, "implement");
    expect(ids(rounds)).toEqual(["plan", "implement", "publish", "implement[1]", "implement[2]"]);
    expect(arrows(rounds)).toContain("implement[1]→implement[2]");
    expect(rounds.nodes.find((one) => one.id === "implement[2]")?.parent).toBe("implement");
    const deep = fold(BUILTIN, "implement", "implement[1]");
    expect(arrows(deep)).toContain("implement[1].build→implement[1].check");
    // What is not visible cannot be unfolded.
    expect(ids(fold(BUILTIN, "implement[1]"))).toEqual(["plan", "implement", "publish"]);
  });

  it("counts fan-outs, with the items that were not begun", () => {
    const states = [...Array<string>(9).fill("succeeded"), "failed", "running", "running"];
    const tasks = [
      task("smoke", { kind: "foreach", state: "running", items: 14 }),
      ...states.map((state, at) => task(`smoke[${at + 1}]`, { state })),
    ];
    const graph = fold(tasks);
    expect(graph.nodes[0]?.summary).toBe("14 items: 9 done, 1 failed, 2 running, 2 pending");
    expect(graph.nodes[0]?.total).toBe(14);
    expect(fold(tasks, "smoke").edges).toEqual([]);
  });

  it("shows an approval deep inside, and trusts a scope that ended", () => {
    const asks = [
      task("a", { kind: "group", state: "running" }),
      task("a.b", { kind: "group", state: "running" }),
      task("a.b.c", { state: "awaiting_approval" }),
      task("a.b.d", { state: "failed" }),
    ];
    expect(fold(asks).nodes[0]?.state).toBe("awaiting_approval");
    const tolerated = [task("a", { kind: "group" }), task("a.b", { state: "failed" })];
    expect(fold(tolerated).nodes[0]?.state).toBe("succeeded");
  });

  it("makes up scopes that are missing, and takes their worst state", () => {
    const graph = fold(
      [task("x[1].a", { state: "failed" }), task("x[1].b", { state: "running" })],
      "x",
    );
    expect(ids(graph)).toEqual(["x", "x[1]"]);
    expect(graph.nodes[0]).toMatchObject({ kind: "group", task: null, state: "failed" });
  });

  it("ignores needs that are not there, itself, and unknown states", () => {
    const graph = fold([task("a", { needs: ["a", "ghost", "a"], state: "exploded" })]);
    expect(graph.edges).toEqual([]);
    expect(graph.nodes[0]?.state).toBeNull();
  });

  it("reads a workflow, which has no states", () => {
    const graph = fold(
      fromWorkflow([
        { id: "a", kind: "tool", uses: "x", needs: [] },
        { id: "b", kind: "repeat", uses: null, needs: ["a"] },
      ]),
    );
    expect(graph.nodes.map((one) => one.state)).toEqual([null, null]);
    expect(arrows(graph)).toEqual(["a→b"]);
  });

  it("survives hostile paths", () => {
    const random = seeded(5);
    for (let round = 0; round < 300; round++) {
      const tasks = Array.from({ length: 20 }, () =>
        task(random.text(["a", "b", ".", "[", "]", "1", "[2]", ".a"], 10), {
          needs: ["a", "b", ""],
        }),
      );
      const all = new Set(tasks.map((one) => one.path));
      const graph = foldTasks(tasks, all);
      const known = new Set(ids(graph));
      expect(known.size).toBe(graph.nodes.length);
      for (const edge of graph.edges)
        expect(known.has(edge.source) && known.has(edge.target)).toBe(true);
      for (const node of graph.nodes)
        expect(node.parent === null || known.has(node.parent)).toBe(true);
      expect(layout(graph, { direction: "down" }).boxes.size).toBe(graph.nodes.length);
    }
    expect(fold([task("a.".repeat(50_000))]).nodes.length).toBeGreaterThan(0);
  });
});

describe("reduceEdges", () => {
  const edge = (source: string, target: string) => ({ source, target });

  it("drops what is implied, and only that", () => {
    const edges = [edge("a", "b"), edge("b", "c"), edge("a", "c"), edge("a", "d")];
    expect(reduceEdges(["a", "b", "c", "d"], edges)).toEqual([edges[0], edges[1], edges[3]]);
  });

  it("leaves cycles alone", () => {
    const edges = [edge("a", "b"), edge("b", "a"), edge("a", "c"), edge("b", "c")];
    expect(reduceEdges(["a", "b", "c"], edges)).toEqual(edges);
  });
});

describe("layout", () => {
  it("puts tasks behind what they need, in both directions", () => {
    const graph = fold(BUILTIN);
    const right = layout(graph, { direction: "right" });
    const x = ["plan", "implement", "publish"].map((id) => right.boxes.get(id)?.x ?? -1);
    expect(x).toEqual([...x].sort((a, b) => a - b));
    expect(new Set(x).size).toBe(3);
    const down = layout(graph, { direction: "down" });
    expect(down.width).toBe(NODE_WIDTH);
    expect(down.height).toBeGreaterThan(3 * NODE_HEIGHT);
  });

  it("puts boxes around their content, without overlap", () => {
    for (const direction of ["right", "down"] as const) {
      const graph = fold(BUILTIN, "implement", "implement[1]", "implement[2]");
      const { boxes } = layout(graph, { direction });
      for (const node of graph.nodes) {
        const box = boxes.get(node.id);
        const around = node.parent === null ? null : boxes.get(node.parent);
        if (!box) throw new Error(node.id);
        if (around) {
          expect(box.x).toBeGreaterThanOrEqual(0);
          expect(box.y).toBeGreaterThan(20);
          expect(box.x + box.width).toBeLessThanOrEqual(around.width);
          expect(box.y + box.height).toBeLessThanOrEqual(around.height);
        }
        for (const other of graph.nodes) {
          const second = boxes.get(other.id);
          if (!second || other.id === node.id || other.parent !== node.parent) continue;
          const apart =
            box.x + box.width <= second.x ||
            second.x + second.width <= box.x ||
            box.y + box.height <= second.y ||
            second.y + second.height <= box.y;
          expect(apart).toBe(true);
        }
      }
    }
  });

  it("uncrosses what can be uncrossed", () => {
    const tasks = [task("a"), task("b"), task("c", { needs: ["b"] }), task("d", { needs: ["a"] })];
    const { boxes } = layout(fold(tasks), { direction: "right" });
    expect(boxes.get("d")?.y).toBe(boxes.get("a")?.y);
    expect(boxes.get("c")?.y).toBe(boxes.get("b")?.y);
  });

  it("is the same every time, and ends for many nodes and for cycles", () => {
    const random = seeded(6);
    const tasks = Array.from({ length: 1000 }, (_, at) =>
      task(`t${at}`, {
        needs: at === 0 ? [] : [`t${random.int(0, at - 1)}`, `t${random.int(0, at - 1)}`],
      }),
    );
    const graph = fold(tasks);
    const first = layout(graph, { direction: "right" });
    expect(layout(graph, { direction: "right" })).toEqual(first);
    expect(first.boxes.size).toBe(1000);
    expect(
      layersOf(
        ["a", "b", "c"],
        [
          ["a", "b"],
          ["b", "a"],
          ["b", "c"],
        ],
      )
        .flat()
        .sort(),
    ).toEqual(["a", "b", "c"]);
    const ring = Array.from({ length: 200 }, (_, at) =>
      task(`r${at}`, { needs: [`r${(at + 199) % 200}`] }),
    );
    expect(layout(fold(ring), { direction: "down" }).boxes.size).toBe(200);
  });

  it("has nothing for nothing", () => {
    expect(layout({ nodes: [], edges: [] }, { direction: "right" })).toMatchObject({
      width: 0,
      height: 0,
    });
  });
});
