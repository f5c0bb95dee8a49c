import { useQuery } from "@tanstack/react-query";
import { FlaskConical } from "lucide-react";
import { useState } from "react";

import { artifactsQuery, tasksQuery } from "@/api/orders";
import { clean, plural, truncateMiddle } from "@/lib/text";
import { Badge } from "@/ui/badge";
import { Card } from "@/ui/card";
import { cx } from "@/ui/cx";
import { EmptyState } from "@/ui/empty-state";
import { ErrorState } from "@/ui/error-state";
import { Duration, RelativeTime } from "@/ui/time";

import { isOpen, PanelSkeleton, type PanelProps } from "./panel-states";
import { VERDICT_LOOK } from "./test-looks";
import { TestRunDetails } from "./test-run";
import { countsOf, testRuns, verdictOf, type TestRun } from "./tests-model";

/** Every run of the tests; the latest is shown. */
export function TestsPanel({ orderId, order }: PanelProps) {
  const tasks = useQuery(tasksQuery(orderId));
  const artifacts = useQuery(artifactsQuery(orderId));
  const [wanted, setWanted] = useState<string | null>(null);
  if (tasks.isPending) {
    return (
      <Card title="Tests" flush>
        <PanelSkeleton label="Loading the tests" rows={4} />
      </Card>
    );
  }
  if (tasks.isError && !tasks.data) {
    return <ErrorState error={tasks.error} onRetry={() => void tasks.refetch()} />;
  }
  const runs = testRuns(tasks.data, artifacts.data ?? []);
  const chosen = runs.find((run) => run.path === wanted) ?? runs.at(-1);
  if (!chosen) {
    const planned = tasks.data.some((task) => task.uses === "tests.run");
    return (
      <Card title="Tests" flush>
        <EmptyState icon={FlaskConical} title="No tests have run">
          {isOpen(order) && planned
            ? "Results appear here as soon as this order's test task has run."
            : isOpen(order)
              ? "Results appear here if the workflow runs tests."
              : "No task of this order ran tests."}
        </EmptyState>
      </Card>
    );
  }
  return (
    <div className="flex flex-col gap-4">
      {artifacts.isError && !artifacts.data && (
        <ErrorState error={artifacts.error} onRetry={() => void artifacts.refetch()} />
      )}
      {runs.length > 1 && (
        <Card title="Runs" description={plural(runs.length, "run")} flush>
          <ol>
            {runs.map((run) => (
              <RunItem
                key={run.path}
                run={run}
                isChosen={run.path === chosen.path}
                onChoose={() => setWanted(run.path)}
              />
            ))}
          </ol>
        </Card>
      )}
      <TestRunDetails key={chosen.path} orderId={orderId} run={chosen} />
    </div>
  );
}

interface RunItemProps {
  run: TestRun;
  isChosen: boolean;
  onChoose: () => void;
}

function RunItem({ run, isChosen, onChoose }: RunItemProps) {
  const look = VERDICT_LOOK[verdictOf(run)];
  const counts = countsOf(run, null);
  const bad = counts.failed + counts.error;
  return (
    <li className="border-b border-line last:border-b-0">
      <button
        type="button"
        aria-pressed={isChosen}
        onClick={onChoose}
        className={cx(
          "flex min-h-10 w-full cursor-pointer flex-wrap items-center gap-x-3 gap-y-1 border-l-2 px-4 py-2 text-left -outline-offset-2 hover:bg-hover",
          isChosen ? "border-accent bg-accent-wash" : "border-transparent",
        )}
      >
        <Badge tone={look.tone} icon={look.icon} spin={look.spin}>
          {look.label}
        </Badge>
        <span className="min-w-0 flex-1 font-mono text-xs [overflow-wrap:anywhere]">
          {truncateMiddle(clean(run.path), 80)}
        </span>
        {run.attempt > 1 && <span className="text-xs text-ink-soft">attempt {run.attempt}</span>}
        {counts.total > 0 && (
          <span className="text-xs text-ink-soft tabular-nums">
            {bad > 0 ? `${bad} of ${plural(counts.total, "test")} failed` : plural(counts.total, "test")}
          </span>
        )}
        <Duration
          from={run.startedAt}
          to={run.endedAt}
          className="text-xs text-ink-soft"
        />
        <RelativeTime value={run.startedAt} className="text-xs text-ink-faint" />
      </button>
    </li>
  );
}
