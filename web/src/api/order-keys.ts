import type { LogLevel, OrderStatus } from "./types";

export interface OrderFilter {
  status?: readonly OrderStatus[];
  /** Address or key of a repository. */
  repository?: string;
  workflow?: string;
  /** Text in id, address, prompt, branch or issue. */
  q?: string;
  /** When it was created, if left out. */
  sort?: "created_at" | "updated_at";
  /** Newest first, if left out. */
  order?: "asc" | "desc";
}

export interface LogFilter {
  level?: LogLevel;
  /** Text in the line. */
  q?: string;
}

/** Rows of a page of orders. */
export const PAGE_SIZE = 100;
/** Lines of a page of a log. */
export const LOG_PAGE_SIZE = 200;

/** The same question is the same key: no empty fields, statuses in one order. */
export function cleanFilter(filter: OrderFilter): OrderFilter {
  const status = [...new Set(filter.status)].sort();
  const q = filter.q?.trim();
  return {
    ...(status.length > 0 && { status }),
    ...(filter.repository && { repository: filter.repository }),
    ...(filter.workflow && { workflow: filter.workflow }),
    ...(q && { q }),
    ...(filter.sort && filter.sort !== "created_at" && { sort: filter.sort }),
    ...(filter.order && filter.order !== "desc" && { order: filter.order }),
  };
}

export function cleanLogFilter(filter: LogFilter): LogFilter {
  const q = filter.q?.trim();
  return { ...(filter.level && { level: filter.level }), ...(q && { q }) };
}

export interface PageAt {
  page: number;
  size: number;
}

/** Lists are `["orders", "list", filter, {page, size}]`; all of one order is `["order", id, …]`. */
export const orderKeys = {
  lists: () => ["orders", "list"] as const,
  list: (filter: OrderFilter) => ["orders", "list", cleanFilter(filter)] as const,
  page: (filter: OrderFilter, page: number, size: number = PAGE_SIZE) =>
    ["orders", "list", cleanFilter(filter), { page, size } satisfies PageAt] as const,

  order: (id: string) => ["order", id] as const,
  detail: (id: string) => ["order", id, "detail"] as const,
  tasks: (id: string) => ["order", id, "tasks"] as const,
  git: (id: string) => ["order", id, "git"] as const,
  commits: (id: string) => ["order", id, "commits"] as const,
  commitDiff: (id: string, sha: string) => ["order", id, "commit-diff", sha] as const,
  diff: (id: string) => ["order", id, "diff"] as const,
  diffAt: (id: string, head: string) => ["order", id, "diff", head] as const,
  review: (id: string) => ["order", id, "review"] as const,
  transcripts: (id: string) => ["order", id, "transcript"] as const,
  transcript: (id: string, task: string | null) => ["order", id, "transcript", task] as const,
  logs: (id: string) => ["order", id, "logs"] as const,
  logPage: (id: string, filter: LogFilter, page: number) =>
    ["order", id, "logs", cleanLogFilter(filter), { page, size: LOG_PAGE_SIZE }] as const,
  artifacts: (id: string) => ["order", id, "artifacts"] as const,
  artifactText: (id: string, sha: string) => ["order", id, "artifact-text", sha] as const,
};
