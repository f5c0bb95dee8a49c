/** What the server is about to describe itself; goes away with the next `schema.d.ts`. */

import { bodyOf, http } from "./client";
import type { Diff } from "./types";

export interface Commit {
  sha: string;
  subject: string;
  author_name: string;
  authored_at: string;
  files_changed: number;
  lines_added: number;
  lines_removed: number;
}

export interface CommitList {
  agent_work_order_id: string;
  commits: Commit[];
  truncated: boolean;
}

export interface Review {
  agent_work_order_id: string;
  title: string;
  body: string;
  state: string;
}

type Get = (path: string, init: { signal?: AbortSignal }) => Promise<{ data?: unknown }>;
const get = http.GET as unknown as Get;
const base = (id: string) => `/api/agent-work-orders/${encodeURIComponent(id)}`;

export const getCommits = (id: string, signal: AbortSignal) =>
  bodyOf(get(`${base(id)}/commits`, { signal })) as Promise<CommitList>;

export const getCommitDiff = (id: string, sha: string, signal: AbortSignal) =>
  bodyOf(get(`${base(id)}/commits/${encodeURIComponent(sha)}/diff`, { signal })) as Promise<Diff>;

export const getReview = (id: string, signal: AbortSignal) =>
  bodyOf(get(`${base(id)}/review`, { signal })) as Promise<Review>;
