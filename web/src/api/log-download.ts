import { bodyOf, http } from "./client";
import { cleanLogFilter, type LogFilter } from "./order-keys";

/** The most that one answer may have. */
const LINES_AT_ONCE = 500;

/** A whole log as JSON lines, oldest first. `onProgress` hears how many lines there are so far. */
export async function readLogAsJsonLines(
  id: string,
  filter: LogFilter,
  onProgress?: (lines: number, total: number) => void,
): Promise<string[]> {
  const parts: string[] = [];
  let lines = 0;
  let after = 0;
  for (;;) {
    const page = await bodyOf(
      http.GET("/api/agent-work-orders/{agent_work_order_id}/logs", {
        params: {
          path: { agent_work_order_id: id },
          query: { ...cleanLogFilter(filter), limit: LINES_AT_ONCE, after },
        },
      }),
    );
    const entries = page.log_entries;
    parts.push(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
    lines += entries.length;
    onProgress?.(lines, page.total_count);
    const last = entries.at(-1);
    if (last === undefined || !page.has_more) return parts;
    after = last.n;
  }
}
