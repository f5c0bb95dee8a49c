import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { CircleCheck, TriangleAlert } from "lucide-react";

import { useLiveState } from "@/api/live/live";
import { sessionQuery } from "@/api/session";
import { statusQuery } from "@/api/status";
import { useMay } from "@/api/roles";
import type { ServerStatus } from "@/api/types";
import { Badge } from "@/ui/badge";
import { Card } from "@/ui/card";
import { Link } from "@/ui/link";
import { Loaded } from "@/ui/loaded";
import { PageHeader } from "@/ui/page-header";
import { SafeText } from "@/ui/safe-text";
import { RelativeTime } from "@/ui/time";

import { Agents, Sandboxes } from "./capabilities";
import { findings, type Finding } from "./model";

/** In a tab of their own: they are no pages of the dashboard, and need the server at once. */
const OUTSIDE = "text-accent hover:underline";

const LIVE_WORDS = {
  live: "Live: changes arrive as they happen",
  connecting: "Connecting…",
  polling: "Asking every 3 seconds until the live connection is back",
} as const;

/** How the server is, what it can run, and who is looking. */
export function AboutPage() {
  const status = useQuery(statusQuery());
  return (
    <>
      <PageHeader
        title="About and health"
        description="How this server is, and what it can run here."
      />
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <Loaded query={status}>
          {(shown) => (
            <>
              <Health status={shown} />
              <Numbers status={shown} />
            </>
          )}
        </Loaded>
        <Agents />
        <Sandboxes />
        <Connection version={status.data?.version ?? null} />
      </div>
    </>
  );
}

function Health({ status }: { status: ServerStatus }) {
  const found = findings(status);
  return (
    <Card
      title="Health"
      actions={
        status.status === "ok" ? (
          <Badge tone="good" icon={CircleCheck}>
            Takes work
          </Badge>
        ) : (
          <Badge tone="bad" icon={TriangleAlert}>
            Degraded
          </Badge>
        )
      }
    >
      {found.length === 0 ? (
        <p className="text-ink-soft">Everything that was checked is fine.</p>
      ) : (
        <ul className="flex flex-col gap-2.5">
          {found.map((one) => (
            <Found key={one.title} finding={one} />
          ))}
        </ul>
      )}
    </Card>
  );
}

function Found({ finding }: { finding: Finding }) {
  return (
    <li className="flex gap-2">
      <TriangleAlert
        aria-hidden
        className={finding.severe ? "mt-0.5 size-4 text-bad" : "mt-0.5 size-4 text-attention"}
      />
      <div className="min-w-0 flex-1">
        <p className="font-medium">
          <SafeText text={finding.title} max={300} />
        </p>
        <p className="text-[13px] text-ink-soft">
          <SafeText text={finding.hint} max={500} />
        </p>
      </div>
    </li>
  );
}

function Numbers({ status }: { status: ServerStatus }) {
  return (
    <Card title="Now">
      <dl className="grid grid-cols-2 gap-x-6 gap-y-2 sm:grid-cols-3">
        <Figure name="Tasks running" value={status.active_tasks} />
        <Figure name="Tasks queued" value={status.queued_tasks} />
        <Figure name="Sandboxes" value={status.sandbox_count} />
        <Figure name="Orders open" value={status.engine.open} />
        <Figure name="Timers" value={status.engine.timers} />
        <Figure name="Approvals asked" value={status.approvals_asked} />
        <Figure
          name="Longest pause"
          value={`${Math.round(status.event_loop.longest_pause_ms)} ms`}
        />
        {Object.entries(status.work_orders).map(([state, count]) => (
          <Figure key={state} name={`Orders ${state}`} value={count} />
        ))}
      </dl>
    </Card>
  );
}

function Figure({ name, value }: { name: string; value: ReactNode }) {
  return (
    <div className="flex min-w-0 flex-col-reverse">
      <dt className="truncate text-xs text-ink-faint">{name}</dt>
      <dd className="text-lg font-semibold tabular-nums">{value}</dd>
    </div>
  );
}

function Connection({ version }: { version: string | null }) {
  const live = useLiveState();
  const { allowed: mayOperate } = useMay("operate");
  const session = useQuery(sessionQuery());
  const status = useQuery(statusQuery());
  return (
    <Card title="This page and this server">
      <dl className="flex flex-col gap-2">
        <Line name="Version">{version ?? "…"}</Line>
        <Line name="Running since">
          <RelativeTime value={status.data?.started_at} none="…" />
        </Line>
        <Line name="Updates">{LIVE_WORDS[live]}</Line>
        <Line name="Signed in as">
          {session.data ? (
            <>
              <SafeText text={session.data.name} max={80} /> ({session.data.role})
            </>
          ) : (
            "…"
          )}
        </Line>
        <Line name="Interface">
          <a className={OUTSIDE} href="/docs" target="_blank">
            HTTP API
          </a>
          ,{" "}
          <a className={OUTSIDE} href="/openapi.json" target="_blank">
            OpenAPI
          </a>
        </Line>
        {mayOperate && (
          <Line name="Begin">
            <Link to="/new">Create a work order</Link>
          </Line>
        )}
      </dl>
    </Card>
  );
}

function Line({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex flex-wrap gap-x-3">
      <dt className="w-28 shrink-0 text-[13px] text-ink-faint">{name}</dt>
      <dd className="min-w-0 flex-1 break-words">{children}</dd>
    </div>
  );
}
