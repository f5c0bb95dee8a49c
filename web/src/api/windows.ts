/** Long lists of which only what is looked at is loaded. */

import { useQueries, type UseQueryResult } from "@tanstack/react-query";
import { useCallback, useState } from "react";

import {
  LOG_PAGE_SIZE,
  PAGE_SIZE,
  orderKeys,
  type LogFilter,
  type OrderFilter,
} from "./order-keys";
import { logPageQuery, orderPageQuery } from "./order-queries";
import { lastPage, pagesOf, remember } from "./page-window";
import type { LogEntry, OrderSummary } from "./types";

export interface Window<Row> {
  /** How many rows there are; 0 until it is known. */
  total: number;
  /** Undefined while its page is on the way: show a skeleton row. */
  rowAt: (index: number) => Row | undefined;
  /** Tell which rows are in view, both included. */
  onRange: (start: number, end: number) => void;
  /** Nothing is known yet. */
  isPending: boolean;
  /** Why a page that is in view could not be loaded. */
  error: Error | null;
  refetch: () => void;
}

/** The list of orders, newest first. */
export function useOrderWindow(filter: OrderFilter): Window<OrderSummary> {
  const { pages, onRange } = usePages(JSON.stringify(orderKeys.list(filter)), PAGE_SIZE);
  const results = useQueries({ queries: pages.map((page) => orderPageQuery(filter, page)) });
  return windowOf(pages, PAGE_SIZE, results, onRange, (page) => page.agent_work_orders);
}

/** An order's log, oldest first. Its end is always loaded, so `total` grows as lines come: to
 * follow, scroll to `total - 1` whenever it changes. */
export function useLogWindow(id: string, filter: LogFilter): Window<LogEntry> {
  const key = JSON.stringify(orderKeys.logPage(id, filter, 0));
  const { pages: seen, onRange } = usePages(key, LOG_PAGE_SIZE);
  const [end, setEnd] = useState({ key, total: 0 });
  const known = end.key === key ? end.total : 0;
  const tail = lastPage(known, LOG_PAGE_SIZE);
  const pages = seen.includes(tail) ? seen : [...seen, tail];
  const results = useQueries({ queries: pages.map((page) => logPageQuery(id, filter, page)) });
  const shown = windowOf(pages, LOG_PAGE_SIZE, results, onRange, (page) => page.log_entries);
  // A log only grows; other pages may have been read when it was shorter.
  const total = Math.max(known, ...results.map((result) => result.data?.total_count ?? 0));
  // Derived from what was loaded: the next render asks for the new end.
  if (total > known) setEnd({ key, total });
  return { ...shown, total };
}

/** The pages that were looked at last; begins anew with another question. */
function usePages(key: string, size: number) {
  const [state, setState] = useState<{ key: string; pages: readonly number[] }>({
    key,
    pages: [0],
  });
  const onRange = useCallback(
    (start: number, end: number) =>
      setState((old) => {
        const before = old.key === key ? old.pages : [0];
        const pages = remember(before, pagesOf(start, end, size));
        return old.key === key && pages === old.pages ? old : { key, pages };
      }),
    [key, size],
  );
  return { pages: state.key === key ? state.pages : [0], onRange };
}

function windowOf<Page extends { total_count: number }, Row>(
  pages: readonly number[],
  size: number,
  results: UseQueryResult<Page>[],
  onRange: (start: number, end: number) => void,
  rowsOf: (page: Page) => readonly Row[],
): Window<Row> {
  const loaded = results.filter((result) => result.data !== undefined);
  const newest = loaded.reduce<UseQueryResult<Page> | undefined>(
    (best, one) => (best && best.dataUpdatedAt >= one.dataUpdatedAt ? best : one),
    undefined,
  );
  const failed = results.find((result) => result.error !== null && result.data === undefined);
  return {
    total: newest?.data?.total_count ?? 0,
    rowAt: (index) => {
      const page = results[pages.indexOf(Math.floor(index / size))]?.data;
      return page && rowsOf(page)[index % size];
    },
    onRange,
    isPending: newest === undefined && failed === undefined,
    error: failed?.error ?? null,
    refetch: () => results.forEach((result) => void result.refetch()),
  };
}
