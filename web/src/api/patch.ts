import type { QueryClient, QueryKey } from "@tanstack/react-query";

/** Changes what is cached under a key, if anything is.
 *
 * Unlike `setQueryData` it does not call the rest of the answer fresh: what was to be read again
 * still is, and the time of the answer stays. The same value means no change. */
export function patch<T>(
  queryClient: QueryClient,
  queryKey: QueryKey,
  change: (known: T) => T,
): void {
  const query = queryClient.getQueryCache().find<T>({ queryKey, exact: true });
  const known = query?.state.data;
  if (query === undefined || known === undefined) return;
  const next = change(known);
  if (next === known) return;
  const { dataUpdatedAt, isInvalidated } = query.state;
  queryClient.setQueryData<T>(queryKey, () => next, { updatedAt: dataUpdatedAt });
  if (isInvalidated) query.invalidate();
}
