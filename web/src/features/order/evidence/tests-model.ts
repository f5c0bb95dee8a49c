/** Runs of tests, from the outputs of their tasks and the files they left. */
import type { Artifact, Task } from "@/api/types";

import type { Outcome, TestCase } from "./junit";

export interface TestRun {
  path: string;
  /** "Iteration 2", or the task's path. */
  label: string;
  state: Task["state"];
  attempt: number;
  startedAt: string | null;
  endedAt: string | null;
  /** Null until it has ended with a result. */
  passed: boolean | null;
  /** Whether there were tests at all. */
  found: boolean;
  /** What the server says it is worth; empty for runs of older versions. */
  verdict: string;
  /** What differs from the tests of the base. */
  changes: string[];
  exitCode: number | null;
  total: number;
  failed: number;
  skipped: number;
  summary: string;
  command: string[];
  /** Hash of a JUnit report, or empty. */
  report: string;
  /** Hash of `test_results.json`, or empty. */
  results: string;
  /** What the command printed; the newest last, one for each attempt. */
  outputs: Artifact[];
  failure: Task["failure"];
}

export function testRuns(tasks: readonly Task[], artifacts: readonly Artifact[]): TestRun[] {
  return tasks
    .filter((task) => task.uses === "tests.run" && task.started_at !== null)
    .map((task) => runOf(task, artifacts.filter((artifact) => artifact.task === task.path)));
}

function runOf(task: Task, artifacts: readonly Artifact[]): TestRun {
  const given: unknown = task.outputs;
  const outputs =
    typeof given === "object" && given !== null ? (given as Record<string, unknown>) : {};
  const named = (name: string) => artifacts.filter((artifact) => artifact.name === name);
  const reported = textOf(outputs["report"]);
  return {
    path: task.path,
    label: labelOf(task.path),
    state: task.state,
    attempt: task.attempt,
    startedAt: task.started_at,
    endedAt: task.ended_at,
    passed: typeof outputs["passed"] === "boolean" ? outputs["passed"] : null,
    found: outputs["found"] !== false,
    verdict: textOf(outputs["verdict"]),
    changes: Array.isArray(outputs["changes"]) ? outputs["changes"].map(String) : [],
    exitCode: typeof outputs["exit_code"] === "number" ? outputs["exit_code"] : null,
    total: countOf(outputs["total"]),
    failed: countOf(outputs["failed"]),
    skipped: countOf(outputs["skipped"]),
    summary: textOf(outputs["summary"]),
    command: Array.isArray(outputs["command"]) ? outputs["command"].map(String) : [],
    report: reported || (named("junit.xml").at(-1)?.sha256 ?? ""),
    results: named("test_results.json").at(-1)?.sha256 ?? "",
    outputs: named("test-output.txt").sort((a, b) => a.created_at.localeCompare(b.created_at)),
    failure: task.failure,
  };
}

/** `implement[2].check` is the second time round. */
export function labelOf(path: string): string {
  const found = /^(.*)\[(\d+)\]\.([^[\]]+)$/.exec(path);
  return found ? `${found[1]} ${found[2]}, ${found[3]}` : path;
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const countOf = (value: unknown): number =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.floor(value) : 0;

export type Verdict = "running" | "passed" | "failed" | "none" | "broken";

export function verdictOf(run: TestRun): Verdict {
  if (run.state === "running" || run.state === "pending") return "running";
  if (run.passed === true) return "passed";
  if (run.verdict === "error") return "broken";
  if (!run.found || run.verdict === "unverified") return "none";
  if (run.passed === false) return "failed";
  return run.failure?.code === "tests_failed" ? "failed" : "broken";
}

export type Counts = Record<Outcome, number> & { total: number };

/** By outcome: from the cases when they are known, else from what the task says. */
export function countsOf(run: TestRun, cases: readonly TestCase[] | null): Counts {
  if (cases !== null && cases.length > 0) {
    const counts: Counts = { failed: 0, error: 0, skipped: 0, passed: 0, total: cases.length };
    for (const one of cases) counts[one.outcome]++;
    return counts;
  }
  const told = run.failed === 0 && run.passed === false ? failedInWords(run.summary) : null;
  const failed = told?.failed ?? run.failed;
  const error = told?.error ?? 0;
  const skipped = told?.skipped ?? run.skipped;
  const passed = Math.max(0, run.total - failed - error - skipped);
  return { failed, error, skipped, passed, total: run.total };
}

/** Python's unittest has no report, but a last line: "FAILED (failures=1, errors=2)". */
function failedInWords(summary: string): { failed: number; error: number; skipped: number } | null {
  const line = /^FAILED \(([^)]{1,200})\)/m.exec(summary)?.[1];
  if (line === undefined) return null;
  const of = (word: string) => Number(new RegExp(`\\b${word}=(\\d{1,9})`).exec(line)?.[1] ?? 0);
  return { failed: of("failures"), error: of("errors"), skipped: of("skipped") };
}

const RANK = { failed: 0, error: 1, skipped: 2, passed: 3 } satisfies Record<Outcome, number>;

/** Those that failed first, else as they ran. */
export function failingFirst(cases: readonly TestCase[]): TestCase[] {
  return [...cases].sort((a, b) => RANK[a.outcome] - RANK[b.outcome]);
}

const RULE = /^[=-]{20,}$/;
const MOST_FOUND = 500;

/** Failing tests in what unittest, pytest or go printed, for runs without a report. */
export function casesInOutput(output: string): TestCase[] {
  const found: TestCase[] = [];
  const lines = output.split("\n");
  for (let at = 0; at < lines.length && found.length < MOST_FOUND; at++) {
    const line = lines[at] ?? "";
    const block = RULE.test(lines[at - 1] ?? "") ? /^(FAIL|ERROR): (\S+)(?: \((.+)\))?/.exec(line) : null;
    const pytest = /^(FAILED|ERROR) (\S+?)::(\S+)(?: - (.*))?$/.exec(line);
    const go = /^\s*--- FAIL: (\S+) \(([\d.]+)s\)$/.exec(line);
    if (block) {
      const details = untilRule(lines, at + 1);
      found.push(failing(block[1] === "ERROR", block[2], block[3], lastLine(details), details));
    } else if (pytest) {
      found.push(failing(pytest[1] === "ERROR", pytest[3], pytest[2], pytest[4], ""));
    } else if (go) {
      found.push({ ...failing(false, go[1], "", "", ""), durationS: Number(go[2]) });
    }
  }
  return found;
}

function failing(
  isError: boolean,
  name: string | undefined,
  suite: string | undefined,
  message: string | undefined,
  details: string,
): TestCase {
  return {
    name: name ?? "",
    suite: suite ?? "",
    outcome: isError ? "error" : "failed",
    message: message ?? "",
    details,
    durationS: null,
  };
}

function untilRule(lines: readonly string[], from: number): string {
  const start = RULE.test(lines[from] ?? "") ? from + 1 : from;
  let end = start;
  while (end < lines.length && !RULE.test(lines[end] ?? "") && end - start < 500) end++;
  return lines.slice(start, end).join("\n").trim();
}

function lastLine(text: string): string {
  return text.slice(text.lastIndexOf("\n") + 1).slice(0, 500);
}
