/**
 * Tasks as a graph for people: scopes (loops, fan-outs, groups) are one node with counts until they
 * are unfolded, then a box around what is inside.
 *
 * Paths: `fix` is a task of the workflow, `fix[2]` its second iteration or item, `fix[2].check` a
 * task inside that. `needs` name tasks of the same scope, so an edge never leaves its box.
 */
import { reduceEdges } from "./graph-edges";
import { plural } from "./text";

export const STATES = [
  "awaiting_approval",
  "failed",
  "running",
  "pending",
  "cancelled",
  "succeeded",
  "skipped",
] as const;
export type GraphState = (typeof STATES)[number];

/** What the graph needs of a task of the API; a task of a workflow has no state. */
export interface GraphTask {
  path: string;
  kind: string;
  uses: string | null;
  needs: readonly string[];
  state?: string | null;
  items?: number | null;
  iterations?: number | null;
  phase?: string | null;
}

export interface GraphNode<T extends GraphTask = GraphTask> {
  id: string;
  label: string;
  kind: string;
  uses: string | null;
  phase: string | null;
  /** Null for a workflow, which does not run. */
  state: GraphState | null;
  /** The box it stands in. */
  parent: string | null;
  foldable: boolean;
  /** It is a box: its content are nodes with this parent. */
  unfolded: boolean;
  /** How many of what is directly inside are in each state. */
  counts: Partial<Record<GraphState, number>>;
  total: number;
  /** "12 items: 9 done, 1 failed, 2 running" */
  summary: string | null;
  /** Null for a scope that the tasks do not mention. */
  task: T | null;
}

export interface GraphEdge {
  id: string;
  source: string;
  target: string;
}

export interface Graph<T extends GraphTask = GraphTask> {
  /** Boxes stand before what is in them. */
  nodes: GraphNode<T>[];
  edges: GraphEdge[];
}

const MAX_DEPTH = 40;
const WORDS: Record<GraphState, string> = {
  awaiting_approval: "waiting for approval",
  failed: "failed",
  running: "running",
  pending: "pending",
  cancelled: "cancelled",
  succeeded: "done",
  skipped: "skipped",
};
const ENDED: ReadonlySet<string> = new Set(["succeeded", "failed", "skipped", "cancelled"]);

/** `fix[2].check` → `fix[2]` → `fix` → "" */
export function scopeOf(path: string): string {
  const at = path.endsWith("]") ? path.lastIndexOf("[") : path.lastIndexOf(".");
  return at < 0 ? "" : path.slice(0, at);
}

export function labelOf(path: string): string {
  if (path.endsWith("]")) return `#${path.slice(path.lastIndexOf("[") + 1, -1)}`;
  return path.slice(path.lastIndexOf(".") + 1);
}

interface Place<T extends GraphTask> {
  path: string;
  task: T | null;
  children: Place<T>[];
}

/** Every scope with what is directly inside, in the order given; "" is the workflow itself. */
function placesOf<T extends GraphTask>(tasks: readonly T[]): Map<string, Place<T>> {
  const root: Place<T> = { path: "", task: null, children: [] };
  const places = new Map<string, Place<T>>([["", root]]);
  for (const task of tasks) {
    const missing: string[] = [];
    let path = task.path;
    while (!places.has(path) && missing.length < MAX_DEPTH) {
      missing.push(path);
      path = scopeOf(path);
    }
    let above = places.get(path) ?? root;
    for (const one of missing.reverse()) {
      const place: Place<T> = { path: one, task: null, children: [] };
      above.children.push(place);
      places.set(one, place);
      above = place;
    }
    const place = places.get(task.path);
    if (place && place !== root) place.task = task;
  }
  return places;
}

function stateOf(value: string | null | undefined): GraphState | null {
  return STATES.find((one) => one === value) ?? null;
}

/** The first of `STATES` that is among them. */
export function worstState(states: Iterable<GraphState | null>): GraphState | null {
  const found = new Set(states);
  return STATES.find((one) => found.has(one)) ?? null;
}

/**
 * A scope that has ended is what it says it is. One that has not shows what needs a person first:
 * an approval inside; else, while it goes on, its own state.
 */
function scopeState(own: GraphState | null, inside: readonly (GraphState | null)[]) {
  if (own !== null && ENDED.has(own)) return own;
  if (inside.includes("awaiting_approval")) return "awaiting_approval";
  return own ?? worstState(inside);
}

export function foldTasks<T extends GraphTask>(
  tasks: readonly T[],
  unfolded: ReadonlySet<string>,
): Graph<T> {
  const places = placesOf(tasks);
  const states = new Map<string, GraphState | null>();
  // A scope comes before what is in it, so backwards is from the inside to the outside.
  for (const place of [...places.values()].reverse()) {
    const own = stateOf(place.task?.state);
    const inside = place.children.map((child) => states.get(child.path) ?? null);
    states.set(place.path, place.children.length === 0 ? own : scopeState(own, inside));
  }
  const graph: Graph<T> = { nodes: [], edges: [] };
  const open = [places.get("")];
  for (let scope = open.pop(); scope; scope = open.pop()) {
    for (const place of scope.children) {
      const node = nodeOf(place, scope.path || null, states, unfolded);
      graph.nodes.push(node);
      if (node.unfolded) open.push(place);
    }
    graph.edges.push(...edgesOf(scope));
  }
  return graph;
}

function nodeOf<T extends GraphTask>(
  place: Place<T>,
  parent: string | null,
  states: ReadonlyMap<string, GraphState | null>,
  unfolded: ReadonlySet<string>,
): GraphNode<T> {
  const { path, task, children } = place;
  const foldable = children.length > 0;
  const counts: Partial<Record<GraphState, number>> = {};
  for (const child of children) {
    const state = states.get(child.path);
    if (state) counts[state] = (counts[state] ?? 0) + 1;
  }
  const total = Math.max(children.length, task?.items ?? 0);
  // Items that were not begun are not listed; they wait.
  if (total > children.length) counts.pending = (counts.pending ?? 0) + total - children.length;
  return {
    id: path,
    label: labelOf(path),
    kind: task?.kind ?? "group",
    uses: task?.uses ?? null,
    phase: task?.phase ?? null,
    state: states.get(path) ?? null,
    parent,
    foldable,
    unfolded: foldable && unfolded.has(path),
    counts,
    total,
    summary: total > 0 ? summaryOf(nounOf(place), total, counts) : null,
    task,
  };
}

/** What is counted inside: a workflow that is not run has steps, where a run has rounds. */
function nounOf<T extends GraphTask>({ task, children }: Place<T>): string {
  const isRun = (task?.items ?? null) !== null || children.some((child) => child.path.endsWith("]"));
  if (!isRun) return "task";
  return task?.kind === "foreach" ? "item" : task?.kind === "repeat" ? "round" : "task";
}

function summaryOf(
  noun: string,
  total: number,
  counts: Partial<Record<GraphState, number>>,
): string {
  const order: GraphState[] = ["succeeded", ...STATES.filter((one) => one !== "succeeded")];
  const parts = order.flatMap((one) => {
    const count = counts[one] ?? 0;
    return count > 0 ? [`${count.toLocaleString("en-US")} ${WORDS[one]}`] : [];
  });
  const head = plural(total, noun);
  return parts.length > 0 ? `${head}: ${parts.join(", ")}` : head;
}

function edgesOf<T extends GraphTask>(scope: Place<T>): GraphEdge[] {
  const here = new Set(scope.children.map((child) => child.path));
  const inside = scope.path === "" ? "" : `${scope.path}.`;
  const edges = new Map<string, GraphEdge>();
  const add = (source: string, target: string) => {
    if (source === target || !here.has(source)) return;
    const id = `${source}→${target}`;
    edges.set(id, { id, source, target });
  };
  let previous: string | null = null;
  for (const { path, task } of scope.children) {
    if (path.endsWith("]")) {
      // Rounds follow each other; items do not.
      if (previous !== null && scope.task?.kind === "repeat") add(previous, path);
      previous = path;
    } else {
      for (const need of task?.needs ?? []) add(inside + need, path);
    }
  }
  return reduceEdges([...here], [...edges.values()]);
}

/** The tasks of a workflow, whose ids are their paths. */
export function fromWorkflow<
  T extends { id: string; kind: string; uses: string | null; needs: string[] },
>(tasks: readonly T[]): (T & { path: string })[] {
  return tasks.map((task) => ({ ...task, path: task.id }));
}
