/** What an order has used, as far as the server tells: totals at its end, and the entries of
 * transcripts that speak of models, tokens and costs. */

import { queryOptions } from "@tanstack/react-query";

import { bodyOf, http } from "./client";
import { orderKeys } from "./order-keys";
import type { TranscriptEntry } from "./types";

/** 100,000 entries of one task; what is behind them is left out. */
const MOST_PAGES = 200;

/** Totals of an order; null until it has ended. `version` changes when they may have. */
export function metricsQuery(id: string, version: string) {
  return queryOptions({
    queryKey: [...orderKeys.order(id), "metrics", version] as const,
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const path = { task_id: id };
      const task = await bodyOf(http.GET("/task/{task_id}", { params: { path }, signal }));
      return task.result?.metrics ?? null;
    },
  });
}

/** The entries of a transcript that nobody said: sessions, ends of turns, errors. */
export function spendingQuery(id: string, task: string, version: string) {
  return queryOptions({
    queryKey: [...orderKeys.order(id), "spending", task, version] as const,
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const found: TranscriptEntry[] = [];
      let after = 0;
      for (let page = 0; page < MOST_PAGES; page++) {
        const answer = await bodyOf(
          http.GET("/api/agent-work-orders/{agent_work_order_id}/transcript", {
            params: { path: { agent_work_order_id: id }, query: { task, after, limit: 500 } },
            signal,
          }),
        );
        found.push(...answer.entries.filter(({ kind }) => kind === "system" || kind === "error"));
        if (!answer.has_more) break;
        after = answer.next_after;
      }
      return found;
    },
  });
}
