import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";

import { artifactTextQuery } from "@/api/orders";
import { clean, plural, truncate } from "@/lib/text";
import { stripAnsi } from "./ansi";
import { Badge } from "@/ui/badge";
import { Card } from "@/ui/card";
import { Code } from "@/ui/code";
import { CopyButton } from "@/ui/copy-button";
import { ErrorState } from "@/ui/error-state";
import { SafeText } from "@/ui/safe-text";
import { SkeletonText } from "@/ui/skeleton";
import { Duration } from "@/ui/time";

import { AnsiText } from "./ansi-text";
import { BoundedText } from "./bounded-text";
import { readJunit, readResultsJson, type TestCase } from "./junit";
import { Stat, Stats } from "./stats";
import { TestCases } from "./test-cases";
import { VERDICT_LOOK } from "./test-looks";
import { casesInOutput, countsOf, verdictOf, type TestRun } from "./tests-model";

export function TestRunDetails({ orderId, run }: { orderId: string; run: TestRun }) {
  const report = useQuery({ ...artifactTextQuery(orderId, run.report), enabled: run.report !== "" });
  const results = useQuery({
    ...artifactTextQuery(orderId, run.results),
    enabled: run.report === "" && run.results !== "",
  });
  const sha = run.outputs.at(-1)?.sha256 ?? "";
  const output = useQuery({ ...artifactTextQuery(orderId, sha), enabled: sha !== "" });
  const cases = useMemo(
    () => casesOf(report.data, results.data),
    [report.data, results.data],
  );
  const guessed = useMemo(
    () => (cases === null ? casesInOutput(stripAnsi(output.data ?? run.summary)) : []),
    [cases, output.data, run.summary],
  );
  const isLoading = report.isLoading || results.isLoading;
  return (
    <>
      <RunSummary run={run} cases={cases} />
      {report.isError && (
        <ErrorState error={report.error} onRetry={() => void report.refetch()} />
      )}
      {report.data !== undefined && cases === null && (
        <p className="text-[13px] text-ink-soft">
          The report cannot be read, so only what the run printed is shown.
        </p>
      )}
      {isLoading && <SkeletonText lines={4} />}
      {!isLoading && <TestCases cases={cases ?? guessed} isComplete={cases !== null} />}
      <Output run={run} output={output} />
    </>
  );
}

function casesOf(report: string | undefined, results: string | undefined): TestCase[] | null {
  if (report !== undefined) return readJunit(report);
  return results === undefined ? null : readResultsJson(results);
}

function RunSummary({ run, cases }: { run: TestRun; cases: TestCase[] | null }) {
  const look = VERDICT_LOOK[verdictOf(run)];
  const counts = countsOf(run, cases);
  const command = run.command.join(" ");
  // A run that broke before it counted has no numbers, rather than zeros.
  const shown = (count: number) =>
    counts.total === 0 && !run.passed ? "—" : count.toLocaleString("en-US");
  return (
    <Card
      title={clean(run.label)}
      actions={
        <Badge tone={look.tone} icon={look.icon} spin={look.spin}>
          {look.label}
        </Badge>
      }
    >
      <Stats>
        <Stat label="Passed" value={shown(counts.passed)} tone={counts.passed > 0 ? "good" : undefined} />
        <Stat
          label="Failed"
          value={shown(counts.failed + counts.error)}
          tone={counts.failed + counts.error > 0 ? "bad" : undefined}
        />
        <Stat label="Skipped" value={shown(counts.skipped)} />
        <Stat label="Took" value={<Duration from={run.startedAt} to={run.endedAt} />} />
      </Stats>
      {run.failure && (
        <p className="mt-3 text-[13px] text-bad">
          <SafeText text={run.failure.message} max={500} />{" "}
          <span className="text-ink-soft">
            <SafeText text={run.failure.hint} max={500} />
          </span>
        </p>
      )}
      {run.changes.length > 0 && (
        <div className="mt-3 text-[13px]">
          <p className="text-ink-soft">Different from the tests of the base</p>
          <ul className="list-disc pl-5">
            {run.changes.map((change) => (
              <li key={change} className="[overflow-wrap:anywhere]">
                <SafeText text={change} max={300} />
              </li>
            ))}
          </ul>
        </div>
      )}
      {command !== "" && (
        <p className="mt-3 flex min-w-0 flex-wrap items-center gap-2 text-[13px] text-ink-soft">
          <span>Command</span>
          <Code className="min-w-0 [overflow-wrap:anywhere]">{truncate(command, 500)}</Code>
          <CopyButton text={command} label="Copy the command" />
          <span>
            {run.exitCode === null ? "without an exit code" : `exit code ${run.exitCode}`}
          </span>
        </p>
      )}
    </Card>
  );
}

interface OutputProps {
  run: TestRun;
  output: { data: string | undefined; isLoading: boolean; error: Error | null; refetch: () => unknown };
}

function Output({ run, output }: OutputProps) {
  const text = output.data ?? (run.outputs.length === 0 ? run.summary : "");
  const earlier = run.outputs.length - 1;
  return (
    <Card
      title="Output"
      description={
        earlier > 0
          ? `Of the last attempt; ${plural(earlier, "earlier one")} under Artifacts`
          : undefined
      }
    >
      {output.isLoading && <SkeletonText lines={5} />}
      {output.error && <ErrorState error={output.error} onRetry={() => void output.refetch()} />}
      {!output.isLoading && !output.error && (
        <div
          tabIndex={0}
          role="region"
          aria-label="Output of the tests"
          className="max-h-96 overflow-auto font-mono text-xs leading-5 [overflow-wrap:anywhere] whitespace-pre-wrap"
        >
          {text.trim() === "" ? (
            <span className="text-ink-faint">
              {run.state === "running" ? "It is shown when the run has ended." : "It printed nothing."}
            </span>
          ) : (
            <BoundedText text={text} max={20_000} draw={(part) => <AnsiText text={part} />} />
          )}
        </div>
      )}
    </Card>
  );
}
