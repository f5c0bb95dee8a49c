/** Which pages of a long list are wanted. Pure. */

/** At most so many pages are watched at a time; those seen last stay. */
export const MOST_PAGES = 12;

/** The pages that show rows `start` to `end`, both included. */
export function pagesOf(start: number, end: number, size: number): number[] {
  const first = Math.max(0, Math.floor(start / size));
  const last = Math.max(first, Math.floor(Math.max(0, end) / size));
  return Array.from({ length: Math.min(last - first + 1, MOST_PAGES) }, (_, i) => first + i);
}

/** The wanted pages first, then those seen before. The same array when nothing changes. */
export function remember(seen: readonly number[], wanted: readonly number[]): readonly number[] {
  if (wanted.every((page, i) => seen[i] === page)) return seen;
  const others = seen.filter((page) => !wanted.includes(page));
  return [...wanted, ...others].slice(0, MOST_PAGES);
}

/** The page with the last row. */
export function lastPage(total: number, size: number): number {
  return Math.max(0, Math.ceil(total / size) - 1);
}
