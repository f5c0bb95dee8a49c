import { describe, expect, it } from "vitest";

import type { Artifact, Task } from "@/api/types";

import { readJunit, readResultsJson } from "./junit";
import { casesInOutput, countsOf, failingFirst, labelOf, testRuns, verdictOf } from "./tests-model";

const outputs = {
  passed: false,
  found: true,
  exit_code: 1,
  total: 2,
  failed: 0,
  skipped: 0,
  summary: "",
  report: "",
  command: ["pytest"],
};

const task = (path: string, more: Partial<Task> = {}): Task =>
  ({
    path,
    uses: "tests.run",
    state: "succeeded",
    attempt: 1,
    started_at: "2026-11-15T10:00:00Z",
    ended_at: "2026-11-15T10:00:05Z",
    outputs,
    failure: null,
    ...more,
  }) as Task;

const artifact = (name: string, path: string, sha256: string, created_at = "") =>
  ({ name, task: path, sha256, created_at }) as Artifact;

function only(runs: ReturnType<typeof testRuns>) {
  const [run] = runs;
  if (!run) throw new Error("no run");
  return run;
}

describe("runs", () => {
  it("takes tasks of tests that have begun, with their own files", () => {
    const runs = testRuns(
      [task("implement[1].check"), task("implement[2].check", { started_at: null }), task("x", { uses: "agent.prompt" })],
      [artifact("test-output.txt", "implement[1].check", "b", "2"), artifact("test-output.txt", "other", "c"), artifact("test-output.txt", "implement[1].check", "a", "1"), artifact("junit.xml", "implement[1].check", "j")],
    );
    expect(runs).toHaveLength(1);
    expect(only(runs).outputs.map((one) => one.sha256)).toEqual(["a", "b"]);
    expect(only(runs).report).toBe("j");
    expect(only(runs).label).toBe("implement 1, check");
    expect(labelOf("check")).toBe("check");
  });

  it("says what came of it", () => {
    const verdict = (more: Partial<Task>) => verdictOf(only(testRuns([task("t", more)], [])));
    expect(verdict({})).toBe("failed");
    expect(verdict({ outputs: { ...outputs, passed: true } })).toBe("passed");
    expect(verdict({ outputs: { ...outputs, found: false } })).toBe("none");
    expect(verdict({ state: "running", outputs: null })).toBe("running");
    expect(verdict({ state: "failed", outputs: null })).toBe("broken");
    const failure = { category: "permanent", code: "tests_failed", message: "", hint: "" };
    expect(verdict({ state: "failed", outputs: null, failure })).toBe("failed");
  });

  it("survives outputs of any shape", () => {
    const odd = { passed: "yes", total: -4, command: "pytest", report: 7, exit_code: "0" };
    expect(only(testRuns([task("t", { outputs: odd })], []))).toMatchObject({
      passed: null,
      total: 0,
      command: [],
      report: "",
      exitCode: null,
    });
  });
});

describe("reports", () => {
  const JUNIT = `<testsuites><testsuite tests="99">
    <testcase classname="a.B" name="ok" time="0.01"/>
    <testcase classname="a.B" name="no"><failure message="1 != 2">trace &lt;script&gt;</failure><system-out>hi</system-out></testcase>
    <testcase classname="a.B" name="odd"><error message="boom"/></testcase>
    <testcase name="later"><skipped message="not now"/></testcase>
  </testsuite></testsuites>`;

  it("reads JUnit case by case and puts failures first", () => {
    const cases = readJunit(JUNIT) ?? [];
    expect(failingFirst(cases).map((one) => one.name)).toEqual(["no", "odd", "later", "ok"]);
    expect(cases[1]).toMatchObject({ message: "1 != 2", details: "trace <script>\nhi" });
    expect(countsOf(only(testRuns([task("t")], [])), cases)).toEqual({
      failed: 1,
      error: 1,
      skipped: 1,
      passed: 1,
      total: 4,
    });
  });

  it("refuses entities and broken documents", () => {
    expect(readJunit('<!DOCTYPE x [<!ENTITY a "b">]><testsuite/>')).toBeNull();
    expect(readJunit("<testsuite>")).toBeNull();
  });

  it("reads lists of results", () => {
    const cases = readResultsJson(
      JSON.stringify([
        { test_name: "a", passed: true },
        { test_name: "b", passed: false, error: "first\nsecond" },
        { name: "c", status: "SKIPPED", duration: 1.5 },
        7,
      ]),
    );
    expect(cases?.map((one) => one.outcome)).toEqual(["passed", "failed", "skipped"]);
    expect(cases?.[1]?.message).toBe("first");
    expect(readResultsJson("{")).toBeNull();
    expect(readResultsJson('"text"')).toBeNull();
  });
});

describe("output without a report", () => {
  const UNITTEST = `.F
======================================================================
FAIL: test_count (tests.test_basket.Totals.test_count)
----------------------------------------------------------------------
Traceback (most recent call last):
AssertionError: 900 != 1350

----------------------------------------------------------------------
Ran 2 tests in 0.001s

FAILED (failures=1)`;

  it("finds what failed in unittest, pytest and go", () => {
    expect(casesInOutput(UNITTEST)).toMatchObject([
      { name: "test_count", outcome: "failed", message: "AssertionError: 900 != 1350" },
    ]);
    expect(casesInOutput("FAILED tests/test_a.py::test_x - assert 1 == 2")).toMatchObject([
      { name: "test_x", suite: "tests/test_a.py", message: "assert 1 == 2" },
    ]);
    expect(casesInOutput("--- FAIL: TestSum (0.02s)")).toMatchObject([
      { name: "TestSum", durationS: 0.02 },
    ]);
    expect(casesInOutput("all good\nFAIL: not in a block")).toEqual([]);
  });

  it("counts failures that only words tell", () => {
    const run = only(testRuns([task("t", { outputs: { ...outputs, summary: UNITTEST } })], []));
    expect(countsOf(run, null)).toMatchObject({ failed: 1, passed: 1, total: 2 });
  });
});
