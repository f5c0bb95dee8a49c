import { useRouter, useRouterState } from "@tanstack/react-router";
import { CloudOff, RefreshCw } from "lucide-react";

import { useSilence } from "@/api/reach";
import { useLateness } from "@/lib/late-code";
import { clockTime, exact } from "@/lib/time";
import { Button } from "@/ui/button";

/** Above what may be stale: since when it is, and that nothing needs to be done about it. */
export function OutageNotice() {
  const silentSince = useSilence();
  const lateness = useLateness();
  if (silentSince !== null) return <Silent since={silentSince} />;
  return lateness === "outdated" ? <Outdated /> : null;
}

const FRAME =
  "sticky top-14 z-10 mb-4 flex flex-wrap items-center gap-x-3 gap-y-2 rounded-lg border border-attention/40 bg-attention-wash px-4 py-2.5 md:top-3";

function Silent({ since }: { since: number }) {
  const router = useRouter();
  const goesOn = useRouterState({ select: (state) => state.isLoading });
  const stay = () => {
    const here = router.state.resolvedLocation;
    if (here) void router.navigate({ href: here.href, replace: true });
  };
  return (
    <div role="status" data-testid="outage" className={FRAME}>
      <CloudOff aria-hidden className="size-4 shrink-0 text-attention" />
      <p className="min-w-0 flex-1 basis-64">
        <strong className="font-semibold text-attention">The server does not answer.</strong> This
        page is as it was at{" "}
        <time dateTime={new Date(since).toISOString()} title={exact(since)}>
          {clockTime(since)}
        </time>
        .{" "}
        {goesOn
          ? "The page you asked for opens as soon as the server is back."
          : "It goes on by itself as soon as the server is back."}
      </p>
      {goesOn && (
        <Button size="sm" onClick={stay}>
          Stay here
        </Button>
      )}
    </div>
  );
}

function Outdated() {
  return (
    <div role="status" className={FRAME}>
      <RefreshCw aria-hidden className="size-4 shrink-0 text-attention" />
      <p className="min-w-0 flex-1 basis-64">
        <strong className="font-semibold text-attention">The server was updated.</strong> What you
        asked for needs its new dashboard. Loading it anew loses what you have typed on this page.
      </p>
      <Button size="sm" icon={RefreshCw} onClick={() => window.location.reload()}>
        Load anew
      </Button>
    </div>
  );
}
