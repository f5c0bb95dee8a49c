import type { ReactNode } from "react";

import { useLastError, type Asked } from "@/lib/use-last-error";
import { Card } from "@/ui/card";
import { ErrorState } from "@/ui/error-state";
import { SkeletonText } from "@/ui/skeleton";

export interface Loadable<Data> extends Asked {
  data: Data | undefined;
  isFetching: boolean;
  refetch: () => unknown;
}

export interface LoadedProps<Data> {
  query: Loadable<Data>;
  /** Of the skeleton. */
  lines?: number;
  /** Without a frame of its own, inside of one. */
  bare?: boolean;
  /** Another way on, beside trying again. */
  action?: ReactNode;
  children: (data: Data) => ReactNode;
}

/** What a query gave; its skeleton before, or why there is nothing. What was loaded stays. */
export function Loaded<Data>({ query, lines = 6, bare, action, children }: LoadedProps<Data>) {
  const error = useLastError(query);
  if (query.data !== undefined) return children(query.data);
  if (error !== null) {
    return (
      <ErrorState
        error={error}
        onRetry={() => void query.refetch()}
        retrying={query.isFetching}
        action={action}
      />
    );
  }
  if (bare) return <SkeletonText lines={lines} />;
  return (
    <Card aria-busy>
      <SkeletonText lines={lines} />
    </Card>
  );
}
