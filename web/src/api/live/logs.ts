/** New lines of a log, put at the end of what is loaded. */

import type { QueryClient, QueryKey } from "@tanstack/react-query";

import { orderKeys, type LogFilter, type PageAt } from "../order-keys";
import { patch } from "../patch";
import type { LogLine } from "./events";
import type { LogEntry, LogPage } from "../types";

/** Answers the pages that have to be asked for again: last pages to which the lines could not be
 * added, because they are filtered or because something is missing in between. */
export function patchLogs(
  queryClient: QueryClient,
  orderId: string,
  lines: readonly LogLine[],
): QueryKey[] {
  const outdated: QueryKey[] = [];
  const pages = queryClient.getQueriesData<LogPage>({ queryKey: orderKeys.logs(orderId) });
  for (const [key, page] of pages) {
    if (page === undefined || page.has_more) continue;
    const next = isEmpty(key[3] as LogFilter) ? extended(page, key[4] as PageAt, lines) : null;
    if (next === null) outdated.push(key);
    else patch<LogPage>(queryClient, key, () => next);
  }
  return outdated;
}

/** The page with the lines at its end, null if they do not join it. */
export function extended(page: LogPage, at: PageAt, lines: readonly LogLine[]): LogPage | null {
  let last = at.page * at.size + page.log_entries.length;
  const entries: LogEntry[] = [];
  for (const line of lines) {
    if (line.n === undefined || line.n > last + 1) return null;
    if (line.n <= last) continue;
    entries.push(line as LogEntry);
    last = line.n;
  }
  if (entries.length === 0) return page;
  const room = at.size - page.log_entries.length;
  return {
    ...page,
    log_entries: [...page.log_entries, ...entries.slice(0, room)],
    total_count: last,
    has_more: entries.length > room,
  };
}

function isEmpty(filter: LogFilter): boolean {
  return filter.level === undefined && filter.q === undefined;
}
