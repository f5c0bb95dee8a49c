import { queryOptions } from "@tanstack/react-query";

import { bodyOf, http } from "./client";

export const statusKeys = { status: () => ["status"] as const };

/** The server's health and counts. Engine numbers have no events, so it is asked now and then. */
export function statusQuery() {
  return queryOptions({
    queryKey: statusKeys.status(),
    staleTime: 5_000,
    refetchInterval: 15_000,
    queryFn: ({ signal }) => bodyOf(http.GET("/status", { signal })),
  });
}
