import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";

import { Problem } from "@/api/problem";
import { describeFailure } from "@/lib/failure";
import { toast } from "@/ui/toast";

declare module "@tanstack/react-query" {
  interface Register {
    /** `quiet`: whoever mutates shows the error itself. */
    mutationMeta: { quiet?: boolean };
  }
}

const TRIES = 2;
/** Events keep what is shown fresh; this is for what has none. */
const STALE_MS = 30_000;

/** Only what another moment may change is asked again. */
export function mayRetry(failures: number, error: unknown): boolean {
  if (failures >= TRIES || !(error instanceof Problem)) return false;
  return error.isOffline || error.status >= 500;
}

export function createQueryClient(onSignedOut: () => void): QueryClient {
  const noticeSignedOut = (error: unknown): boolean => {
    const signedOut = error instanceof Problem && error.isSignedOut;
    if (signedOut) onSignedOut();
    return signedOut;
  };
  return new QueryClient({
    defaultOptions: {
      queries: { retry: mayRetry, staleTime: STALE_MS, networkMode: "always" },
      mutations: { retry: false, networkMode: "always" },
    },
    queryCache: new QueryCache({ onError: noticeSignedOut }),
    mutationCache: new MutationCache({
      onError: (error, _variables, _context, mutation) => {
        if (noticeSignedOut(error) || mutation.meta?.quiet) return;
        const failure = describeFailure(error);
        toast({ tone: "bad", title: failure.title, description: failure.hint ?? undefined });
      },
    }),
  });
}
