/**
 * A layered layout: tasks stand behind what they need, ordered so that few edges cross. Boxes are
 * laid out from the inside to the outside. Deterministic; no step depends on the machine.
 */

export type Direction = "right" | "down";

export interface LayoutNode {
  id: string;
  parent: string | null;
  unfolded: boolean;
}

export interface LayoutGraph {
  nodes: readonly LayoutNode[];
  edges: readonly { source: string; target: string }[];
}

/** `x` and `y` are relative to the box that the node stands in. */
export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Layout {
  boxes: Map<string, Box>;
  width: number;
  height: number;
}

export const NODE_WIDTH = 232;
export const NODE_HEIGHT = 64;
const GAP_ALONG = 56;
const GAP_ACROSS = 20;
const PADDING = 16;
/** Above the content of a box stands its name. */
const HEADER = 52;
const SWEEPS = 4;
/** So many nodes without edges are put into a grid instead of one row. */
const GRID_FROM = 5;

interface Size {
  width: number;
  height: number;
}

export function layout(graph: LayoutGraph, { direction }: { direction: Direction }): Layout {
  const inside = new Map<string | null, LayoutNode[]>();
  for (const node of graph.nodes) append(inside, node.parent, node);
  const parentOf = new Map(graph.nodes.map((node) => [node.id, node.parent]));
  const edgesIn = new Map<string | null, [string, string][]>();
  for (const { source, target } of graph.edges) {
    const parent = parentOf.get(source);
    if (source === target || parent === undefined || parentOf.get(target) !== parent) continue;
    append(edgesIn, parent, [source, target]);
  }
  const boxes = new Map<string, Box>();
  const place = (scope: string | null): Size => {
    const nodes = inside.get(scope) ?? [];
    return placeScope(nodes, edgesIn.get(scope) ?? [], boxes, direction, scope !== null);
  };
  // Boxes stand before what is in them, so backwards the inner ones come first.
  for (const node of [...graph.nodes].reverse()) {
    const size = node.unfolded ? place(node.id) : { width: NODE_WIDTH, height: NODE_HEIGHT };
    boxes.set(node.id, { x: 0, y: 0, ...size });
  }
  return { boxes, ...place(null) };
}

function placeScope(
  nodes: readonly LayoutNode[],
  edges: readonly [string, string][],
  boxes: Map<string, Box>,
  direction: Direction,
  isBox: boolean,
): Size {
  const ids = nodes.map((node) => node.id);
  const layers = edges.length === 0 ? grid(ids, direction) : ordered(layersOf(ids, edges), edges);
  const left = isBox ? PADDING : 0;
  const top = isBox ? HEADER : 0;
  const size = placeLayers(layers, boxes, direction, { left, top });
  if (!isBox) return size;
  return {
    width: Math.max(NODE_WIDTH, size.width + 2 * PADDING),
    height: size.height + HEADER + PADDING,
  };
}

function placeLayers(
  layers: readonly (readonly string[])[],
  boxes: Map<string, Box>,
  direction: Direction,
  origin: { left: number; top: number },
): Size {
  const isRight = direction === "right";
  const boxOf = (id: string) => boxes.get(id) ?? { x: 0, y: 0, width: 0, height: 0 };
  const along = (box: Box) => (isRight ? box.width : box.height);
  const across = (box: Box) => (isRight ? box.height : box.width);
  const spans = layers.map(
    (layer) =>
      layer.reduce((sum, id) => sum + across(boxOf(id)), 0) + GAP_ACROSS * (layer.length - 1),
  );
  const widest = spans.reduce((most, one) => Math.max(most, one), 0);
  let start = 0;
  layers.forEach((layer, number) => {
    const depth = layer.reduce((most, id) => Math.max(most, along(boxOf(id))), 0);
    let offset = (widest - (spans[number] ?? 0)) / 2;
    for (const id of layer) {
      const box = boxOf(id);
      const main = start + (depth - along(box)) / 2;
      const x = origin.left + (isRight ? main : offset);
      const y = origin.top + (isRight ? offset : main);
      boxes.set(id, { ...box, x, y });
      offset += across(box) + GAP_ACROSS;
    }
    start += depth + GAP_ALONG;
  });
  const length = Math.max(0, start - GAP_ALONG);
  return isRight ? { width: length, height: widest } : { width: widest, height: length };
}

/** Without edges there is no order to show: rows of a rectangle, narrow when going down. */
function grid(ids: readonly string[], direction: Direction): string[][] {
  if (ids.length === 0) return [];
  if (direction === "down") return ids.map((id) => [id]);
  if (ids.length < GRID_FROM) return [[...ids]];
  const columns = Math.max(1, Math.round(Math.sqrt(ids.length / 3)));
  const rows = Math.ceil(ids.length / columns);
  return Array.from({ length: Math.ceil(ids.length / rows) }, (_, at) =>
    ids.slice(at * rows, (at + 1) * rows),
  );
}

/** Longest path from the beginning. A cycle is cut where it is met first. */
export function layersOf(
  ids: readonly string[],
  edges: readonly (readonly [string, string])[],
): string[][] {
  const next = new Map<string, string[]>();
  const blocked = new Map(ids.map((id) => [id, 0]));
  for (const [source, target] of edges) {
    append(next, source, target);
    blocked.set(target, (blocked.get(target) ?? 0) + 1);
  }
  const layer = new Map<string, number>();
  const queue = ids.filter((id) => blocked.get(id) === 0);
  const done = new Set<string>();
  let candidate = 0;
  for (let at = 0; done.size < ids.length; at++) {
    let id = queue[at];
    if (id === undefined) {
      while (done.has(ids[candidate] ?? "")) candidate++;
      id = ids[candidate];
      if (id === undefined) break;
      queue.push(id);
    }
    if (done.has(id)) continue;
    done.add(id);
    const depth = layer.get(id) ?? 0;
    layer.set(id, depth);
    for (const target of next.get(id) ?? []) {
      if (done.has(target)) continue;
      layer.set(target, Math.max(layer.get(target) ?? 0, depth + 1));
      const left = (blocked.get(target) ?? 0) - 1;
      blocked.set(target, left);
      if (left === 0) queue.push(target);
    }
  }
  const layers: string[][] = [];
  for (const id of ids) (layers[layer.get(id) ?? 0] ??= []).push(id);
  return layers.filter((one) => one !== undefined);
}

/** Sorted by the middle of their neighbours, forwards and backwards, a few times. */
function ordered(layers: string[][], edges: readonly (readonly [string, string])[]): string[][] {
  const before = new Map<string, string[]>();
  const after = new Map<string, string[]>();
  for (const [source, target] of edges) {
    append(before, target, source);
    append(after, source, target);
  }
  const rank = new Map<string, number>();
  const note = (layer: readonly string[]) =>
    layer.forEach((id, at) => rank.set(id, (at + 0.5) / layer.length));
  layers.forEach(note);
  let sorted = layers;
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const isForward = sweep % 2 === 0;
    const neighbours = isForward ? before : after;
    const result = isForward ? [...sorted] : [...sorted].reverse();
    result.forEach((layer, at) => {
      const middle = new Map(layer.map((id) => [id, barycentre(id, neighbours, rank)]));
      const next = [...layer].sort((a, b) => (middle.get(a) ?? 0) - (middle.get(b) ?? 0));
      result[at] = next;
      note(next);
    });
    sorted = isForward ? result : result.reverse();
  }
  return sorted;
}

function barycentre(
  id: string,
  neighbours: ReadonlyMap<string, readonly string[]>,
  rank: ReadonlyMap<string, number>,
): number {
  const found = neighbours.get(id) ?? [];
  if (found.length === 0) return rank.get(id) ?? 0;
  return found.reduce((sum, one) => sum + (rank.get(one) ?? 0), 0) / found.length;
}

function append<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const found = map.get(key);
  if (found) found.push(value);
  else map.set(key, [value]);
}
