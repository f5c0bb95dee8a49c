import { describe, expect, it } from "vitest";

import { logLine, type LogLike } from "./log-line";
import { KNOWN_EVENTS } from "./log-sentences";
import { seeded } from "@/lib/test-random";

const entry = (event: string, fields: Record<string, unknown> = {}, level = "info"): LogLike => ({
  timestamp: "2026-03-12T14:03:07.120Z",
  level,
  event,
  agent_work_order_id: "wo-1",
  n: 1,
  ...fields,
});
const title = (event: string, fields: Record<string, unknown> = {}) =>
  logLine(entry(event, fields)).title;

describe("logLine", () => {
  it("says what happened", () => {
    expect(title("task_started", { task: "plan", attempt: 1 })).toBe("plan started");
    expect(title("task_started", { task: "plan", attempt: 3 })).toBe("plan started (attempt 3)");
    expect(
      title("agent_command_completed", {
        command_name: "build",
        agent: "claude",
        duration_seconds: 65,
      }),
    ).toBe("claude finished build in 1 min 5 s");
    expect(
      title("workflow_phase_transition", { from_phase: "planning", to_phase: "testing" }),
    ).toBe("Went from planning to testing");
    expect(title("sandbox_command_executed", { command: "make", exit_code: 2 })).toBe(
      "Ran make (exit 2)",
    );
    expect(title("sandbox_command_executed", { command: "make", exit_code: 0 })).toBe("Ran make");
    expect(title("prompt_received", { by: "ana" })).toBe("A prompt was received from ana");
    expect(title("prompt_received")).toBe("A prompt was received");
    expect(title("task_parked", { task: "build", reason: "model_quota" })).toBe(
      "build waits for model quota",
    );
    expect(title("agent_work_order_failed", { error: "no luck", code: "x" })).toBe(
      "The order failed: no luck",
    );
  });

  it("keeps as details what the sentence does not tell", () => {
    const line = logLine(
      entry("task_failed", { task: "t", error: "first\nsecond", code: "c", hint: null }, "warning"),
      "UTC",
    );
    expect(line).toMatchObject({
      time: "14:03:07",
      level: "warning",
      tone: "warning",
      title: "t failed: first",
    });
    expect(line.details).toEqual([
      ["error", "first\nsecond"],
      ["code", "c"],
    ]);
  });

  it("has words for events that it does not know", () => {
    expect(logLine(entry("cache_warmed_up", { by: { a: 1 }, list: [1] }))).toMatchObject({
      title: "Cache warmed up",
      tone: "neutral",
      details: [
        ["by", '{"a":1}'],
        ["list", "[1]"],
      ],
    });
    expect(title("")).toBe("(no event)");
    expect(title("constructor")).toBe("Constructor");
  });

  it("has tones", () => {
    expect(logLine(entry("x", {}, "ERROR")).tone).toBe("danger");
    expect(logLine(entry("agent_work_order_completed")).tone).toBe("good");
    expect(logLine(entry("tests_completed", { passed: true })).tone).toBe("good");
    expect(logLine(entry("tests_completed", { passed: false, failed: 3 }))).toMatchObject({
      tone: "warning",
      details: [["failed", "3"]],
    });
  });

  it("has a sentence for every event, whatever its fields are", () => {
    const random = seeded(14);
    const names = [
      "task",
      "by",
      "error",
      "agent",
      "command_name",
      "attempt",
      "duration_seconds",
      "git_commit_sha",
      "phase",
      "passed",
      "exit_code",
      "reason",
    ];
    const values: unknown[] = [
      null,
      5,
      -1,
      NaN,
      true,
      "",
      "x",
      "\u202e\u0000",
      "a\nb",
      [],
      {},
      { toString: 1 },
      "z".repeat(5000),
    ];
    for (const event of KNOWN_EVENTS) {
      expect(title(event).trim()).not.toBe("");
      for (let round = 0; round < 40; round++) {
        const fields = Object.fromEntries(names.map((name) => [name, random.pick(values)]));
        const line = logLine(entry(event, fields));
        expect(line.title).not.toMatch(/undefined|null|\[object/);
        expect(line.title.length).toBeLessThan(1500);
      }
    }
  });
});
