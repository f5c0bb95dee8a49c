/** Small values for tests. */

import { QueryClient } from "@tanstack/react-query";

import type { Role } from "@/lib/roles";

import type {
  Approval,
  LogEntry,
  LogPage,
  Order,
  OrderPage,
  OrderSummary,
  Session,
  Task,
} from "./types";

export function testClient(): QueryClient {
  return new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: Infinity } } });
}

/** `2026-01-01T00:00:0<second>.000Z` and so on. */
export function moment(second: number): string {
  return new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
}

export function anOrder(n: number, more: Partial<OrderSummary> = {}): OrderSummary {
  return {
    agent_work_order_id: `wo-${n}`,
    workflow_type: "plan",
    repository: "example",
    repository_url: "https://example.invalid/repo.git",
    status: "running",
    created_at: moment(n),
    updated_at: moment(n),
    ...more,
  } as OrderSummary;
}

export function detailed(order: OrderSummary): Order {
  return {
    ...order,
    git_commit_count: 3,
    git_files_changed: 2,
    git_lines_added: 20,
    git_lines_removed: 1,
  };
}

export function aPage(orders: OrderSummary[], total = orders.length): OrderPage {
  return { agent_work_orders: orders, total_count: total, has_more: total > orders.length };
}

export function aTask(path: string, more: Partial<Task> = {}): Task {
  return { path, state: "pending", attempt: 1, needs: [], ...more } as Task;
}

export function aLine(n: number): LogEntry {
  return {
    n,
    event: "task_started",
    level: "info",
    timestamp: moment(n),
    agent_work_order_id: "wo-1",
  };
}

export function aLog(first: number, last: number, total = last): LogPage {
  const log_entries = Array.from({ length: last - first + 1 }, (_, i) => aLine(first + i));
  return {
    agent_work_order_id: "wo-1",
    log_entries,
    total_count: total,
    has_more: total > last,
  };
}

export function anApproval(more: Partial<Approval> = {}): Approval {
  return {
    approval_id: "wo-1:ask:0",
    agent_work_order_id: "wo-1",
    task: "ask",
    message: "Really?",
    subject: {},
    subject_hash: "hash",
    head_sha: "c".repeat(40),
    state: "asked",
    asked_at: moment(1),
    expires_at: null,
    decided_by: null,
    decided_at: null,
    comment: null,
    ...more,
  };
}

export function aSession(role: Role): Session {
  return { name: "somebody", role, repositories: null, expires_at: null };
}

export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "Content-Type": "application/json", ...headers },
  });
}

export function refusal(status: number, code: string): Response {
  const body = { code, detail: "No", title: "No", type: "urn:x", status };
  return json(body, status, { "Content-Type": "application/problem+json" });
}
