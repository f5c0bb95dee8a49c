import { describe, expect, it } from "vitest";

import { planFromDiff } from "./plan-model";
import { changesOf, hasPlanned, lastWords, rounds, testVerdict } from "./summary-model";
import { testOrder, testTask as task } from "./test-order";

const check = (path: string, outputs: unknown) => task(path, { uses: "tests.run", outputs });

describe("testVerdict", () => {
  it("takes the last run's word", () => {
    const tasks = [
      check("fix[1].check", { passed: false, found: true, total: 2, failed: 1 }),
      check("fix[2].check", { passed: true, found: true, total: 2, failed: 0 }),
    ];
    expect(testVerdict(tasks)).toEqual({ tone: "good", words: "2 tests passed" });
    expect(testVerdict(tasks.slice(0, 1))).toEqual({
      tone: "bad",
      words: "1 of 2 tests did not pass",
    });
  });

  it("tells no tests from none that passed", () => {
    expect(testVerdict([])).toBeNull();
    expect(testVerdict([check("a", { passed: false, found: false })])?.tone).toBe("attention");
    expect(testVerdict([check("a", { passed: true })])?.words).toBe("No test ran");
    const skipped = { passed: true, total: 1, skipped: 1 };
    expect(testVerdict([check("a", skipped)])).toEqual({ tone: "attention", words: "No test ran" });
    const some = { passed: true, total: 3, skipped: 1 };
    expect(testVerdict([check("a", some)])?.words).toBe("2 tests passed, 1 skipped");
    const none = { passed: false, found: true, verdict: "unverified", summary: "all skipped\nx" };
    expect(testVerdict([check("a", none)])?.words).toBe("Unverified: all skipped");
    expect(testVerdict([check("a", "<b>odd</b>")])?.tone).toBe("neutral");
  });
});

describe("the rest of the summary", () => {
  it("counts changes and rounds", () => {
    expect(changesOf(testOrder())).toBe("No file was changed");
    expect(changesOf(testOrder({ git_files_changed: 2, git_commit_count: 1 }))).toBe(
      "2 files in 1 commit",
    );
    expect(rounds([task("a")])).toBeNull();
    expect(rounds([task("fix", { kind: "repeat", iterations: 3 })])).toBe(3);
  });

  it("knows what was planned and said", () => {
    const plan = task("plan", { phase: "planning", outputs: { text: " The plan is there. " } });
    expect(hasPlanned([plan])).toBe(true);
    expect(hasPlanned([task("build", { phase: "implementing" })])).toBe(false);
    expect(lastWords([plan, task("publish", { uses: "forge.open_pull_request" })])).toBe(
      "The plan is there.",
    );
    expect(lastWords([])).toBeNull();
  });

  it("finds the plan in the diff", () => {
    const diff = [
      "diff --git a/basket.py b/basket.py",
      "--- a/basket.py",
      "+++ b/basket.py",
      "@@ -1 +1 @@",
      "-a",
      "+b",
      "diff --git a/specs/plan.md b/specs/plan.md",
      "new file mode 100644",
      "--- /dev/null",
      "+++ b/specs/plan.md",
      "@@ -0,0 +1,2 @@",
      "+# Plan",
      "+1. Multiply",
      "",
    ].join("\n");
    expect(planFromDiff(diff)).toEqual({ path: "specs/plan.md", text: "# Plan\n1. Multiply" });
    expect(planFromDiff("")).toBeNull();
  });
});
