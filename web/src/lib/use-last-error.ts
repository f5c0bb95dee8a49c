import { useState } from "react";

/** What is looked at of a query. */
export interface Asked {
  error: unknown;
  isPending: boolean;
  /** How often it has failed since it exists. */
  errorUpdateCount: number;
}

/** Why it could not be loaded, also while it is asked again: a query that never had an answer forgets
 * its error then, and a page would flicker between the error and its skeleton. */
export function useLastError(query: Asked): unknown {
  const [last, setLast] = useState<unknown>(query.error);
  if (query.error !== null && query.error !== last) setLast(query.error);
  if (query.error !== null) return query.error;
  return query.isPending && query.errorUpdateCount > 0 ? last : null;
}
