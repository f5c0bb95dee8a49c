/** Asks again for what has grown stale: together, not too often, and only for what is shown. */

import { hashKey, type Query, type QueryClient, type QueryKey } from "@tanstack/react-query";

import type { Stale } from "./live/cache";

const SOON_MS = 500;
const EVIDENCE_MS = 1_000;
/** Parts of an order that change while its agent works, without an event of their own. */
const EVIDENCE: readonly unknown[] = [
  "detail",
  "git",
  "commits",
  "diff",
  "review",
  "transcript",
  "artifacts",
];

export class Refresher {
  private readonly soon = new Map<string, QueryKey>();
  private readonly evidence = new Set<string>();
  private soonTimer: ReturnType<typeof setTimeout> | undefined;
  private evidenceTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly queryClient: QueryClient) {}

  add(stale: Stale): void {
    for (const key of stale.soon) this.soon.set(hashKey(key), key);
    for (const id of stale.evidence) this.evidence.add(id);
    this.schedule();
  }

  /** Forget what was asked for. */
  stop(): void {
    clearTimeout(this.soonTimer);
    clearTimeout(this.evidenceTimer);
    this.soonTimer = this.evidenceTimer = undefined;
    this.soon.clear();
    this.evidence.clear();
  }

  private schedule(): void {
    if (this.soon.size > 0) this.soonTimer ??= setTimeout(() => this.refreshSoon(), SOON_MS);
    if (this.evidence.size > 0) {
      this.evidenceTimer ??= setTimeout(() => this.refreshEvidence(), EVIDENCE_MS);
    }
  }

  private refreshSoon(): void {
    this.soonTimer = undefined;
    const keys = [...this.soon.values()];
    this.soon.clear();
    const cache = this.queryClient.getQueryCache();
    const queries = new Set(keys.flatMap((queryKey) => cache.findAll({ queryKey })));
    for (const query of queries) {
      if (!this.refresh(query)) this.soon.set(query.queryHash, query.queryKey);
    }
    this.schedule();
  }

  private refreshEvidence(): void {
    this.evidenceTimer = undefined;
    const ids = new Set<unknown>(this.evidence);
    this.evidence.clear();
    for (const query of this.queryClient.getQueryCache().findAll({ queryKey: ["order"] })) {
      const [, id, part] = query.queryKey;
      if (!ids.has(id) || !EVIDENCE.includes(part)) continue;
      if (!this.refresh(query)) this.evidence.add(String(id));
    }
    this.schedule();
  }

  /** False if it must be tried later: an answer on its way may be older than what made it stale,
   * and taking back every such request could mean that none ever ends. */
  private refresh(query: Query): boolean {
    if (query.state.fetchStatus === "fetching") return false;
    void this.queryClient.invalidateQueries({ queryKey: query.queryKey, exact: true });
    return true;
  }
}

/** Every query that events keep fresh; contents that are addressed by a hash never change. */
export function isLive(query: Query): boolean {
  const [root, , part] = query.queryKey;
  if (root === "order") return part !== "commit-diff" && part !== "artifact-text";
  return root === "orders" || root === "approvals" || root === "status";
}
