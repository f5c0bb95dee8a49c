/** What an order that is done has brought, read from its tasks and numbers. */

import type { Order, Task } from "@/api/types";
import { firstLine, plural } from "@/lib/text";

export interface TestVerdict {
  tone: "good" | "bad" | "neutral" | "attention";
  words: string;
}

/** The verdict of the last task that ran tests. */
export function testVerdict(tasks: readonly Task[]): TestVerdict | null {
  const last = tasks.findLast((task) => task.uses === "tests.run" && task.ended_at !== null);
  if (last === undefined) return null;
  const { found, passed, total, failed, skipped, verdict, summary } = asRecord(last.outputs);
  if (passed === true) {
    const aside = isCount(skipped) ? skipped : 0;
    // Those that were skipped have shown nothing.
    const run = isCount(total) ? total - aside : 0;
    if (run <= 0) return { tone: "attention", words: "No test ran" };
    const words = `${plural(run, "test")} passed`;
    return { tone: "good", words: aside > 0 ? `${words}, ${aside} skipped` : words };
  }
  if (verdict === "unverified" || found === false) {
    const why = typeof summary === "string" ? firstLine(summary) : "";
    return { tone: "attention", words: `Unverified: ${why || "the repository has no tests"}` };
  }
  if (passed === false || last.state === "failed") {
    const words =
      isCount(failed) && isCount(total)
        ? `${failed} of ${plural(total, "test")} did not pass`
        : "Tests did not pass";
    return { tone: "bad", words };
  }
  return { tone: "neutral", words: "The tests gave no verdict" };
}

/** Whether something was planned, so that a plan can be shown. */
export function hasPlanned(tasks: readonly Task[]): boolean {
  return tasks.some((task) => task.phase === "planning" && task.state === "succeeded");
}

/** What the agent said last, for an order whose result is words. */
export function lastWords(tasks: readonly Task[]): string | null {
  const last = tasks.findLast(
    (task) => task.uses?.startsWith("agent.") && task.state === "succeeded",
  );
  const { text } = asRecord(last?.outputs);
  return typeof text === "string" && text.trim() !== "" ? text.trim() : null;
}

/** How often its loops went round in all; null without a loop. */
export function rounds(tasks: readonly Task[]): number | null {
  const loops = tasks.filter((task) => task.kind === "repeat" && task.iterations !== null);
  if (loops.length === 0) return null;
  return loops.reduce((sum, task) => sum + (task.iterations ?? 0), 0);
}

export function changesOf(order: Pick<Order, "git_files_changed" | "git_commit_count">): string {
  if (order.git_files_changed === 0) return "No file was changed";
  return `${plural(order.git_files_changed, "file")} in ${plural(order.git_commit_count, "commit")}`;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && value > 0;
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
