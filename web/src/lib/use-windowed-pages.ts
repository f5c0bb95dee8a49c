/** Long lists are loaded in pages, and only those that can be seen. */
import { useDeferredValue, useMemo } from "react";

export interface VisibleRange {
  /** Index of the first visible row. */
  start: number;
  /** Index of the last visible row, included. */
  end: number;
}

/** Nobody sees more at once; a wrong range must not ask for everything. */
const MAX_PAGES = 20;

/** The pages, from 0, that the rows of a range and `overscan` rows around it stand on. */
export function pagesFor(
  range: VisibleRange,
  pageSize: number,
  count: number,
  overscan = 0,
): number[] {
  const size = Math.floor(pageSize);
  const total = Math.floor(count);
  if (!(size >= 1) || !(total >= 1)) return [];
  if (!Number.isFinite(range.start) || !Number.isFinite(range.end)) return [];
  const around = Math.max(0, Math.floor(overscan) || 0);
  const start = clamp(Math.floor(range.start) - around, total);
  const end = clamp(Math.max(Math.floor(range.end), Math.floor(range.start)) + around, total);
  const first = Math.floor(start / size);
  const length = Math.min(Math.floor(end / size) - first + 1, MAX_PAGES);
  return Array.from({ length }, (_, at) => first + at);
}

function clamp(index: number, count: number): number {
  return Math.min(Math.max(0, index), count - 1);
}

/** Where a row stands: its page, and its place on it. */
export function placeOnPage(index: number, pageSize: number): { page: number; at: number } {
  return { page: Math.floor(index / pageSize), at: index % pageSize };
}

export interface WindowedPages {
  count: number;
  pageSize: number;
  range: VisibleRange;
  overscan?: number;
}

/** The same array as long as the pages are the same; it lags behind while somebody scrolls fast. */
export function useWindowedPages({
  count,
  pageSize,
  range,
  overscan = 0,
}: WindowedPages): number[] {
  const key = useDeferredValue(pagesFor(range, pageSize, count, overscan).join(","));
  return useMemo(() => (key === "" ? [] : key.split(",").map(Number)), [key]);
}
