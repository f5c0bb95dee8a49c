/** Edges that say nothing new are left out: `a → c` when there is `a → b → c`. */

interface Edge {
  source: string;
  target: string;
}

/** Steps of the search; past them the rest of the edges is kept as it is. */
const MAX_STEPS = 200_000;

export function reduceEdges<E extends Edge>(ids: readonly string[], edges: readonly E[]): E[] {
  const next = new Map<string, string[]>();
  for (const { source, target } of edges) {
    const targets = next.get(source);
    if (targets) targets.push(target);
    else next.set(source, [target]);
  }
  let steps = 0;
  const redundant = new Set<E>();
  if (hasCycle(ids, edges, next)) return [...edges];
  for (const edge of edges) {
    const others = (next.get(edge.source) ?? []).filter((one) => one !== edge.target);
    if (others.length === 0) continue;
    const seen = new Set(others);
    const waiting = [...others];
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      if (++steps > MAX_STEPS) return edges.filter((one) => !redundant.has(one));
      if (at === edge.target) {
        redundant.add(edge);
        break;
      }
      for (const one of next.get(at) ?? []) {
        if (!seen.has(one)) {
          seen.add(one);
          waiting.push(one);
        }
      }
    }
  }
  return edges.filter((one) => !redundant.has(one));
}

function hasCycle(
  ids: readonly string[],
  edges: readonly Edge[],
  next: ReadonlyMap<string, readonly string[]>,
): boolean {
  const blocked = new Map(ids.map((id) => [id, 0]));
  for (const { target } of edges) blocked.set(target, (blocked.get(target) ?? 0) + 1);
  const free = [...blocked].flatMap(([id, count]) => (count === 0 ? [id] : []));
  let done = 0;
  for (let at = free.pop(); at !== undefined; at = free.pop()) {
    done++;
    for (const one of next.get(at) ?? []) {
      const left = (blocked.get(one) ?? 0) - 1;
      blocked.set(one, left);
      if (left === 0) free.push(one);
    }
  }
  return done < blocked.size;
}
