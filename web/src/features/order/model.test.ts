import { describe, expect, it } from "vitest";

import { bannerOf } from "./banners";
import {
  allowedActions,
  isPausing,
  jsonText,
  parseOutputs,
  promptable,
  tabOf,
  taskActions,
  undoSteps,
} from "./model";
import { testOrder, testTask } from "./test-order";
import { scopesOf } from "./use-unfolded";

const order = testOrder;
const task = testTask;

describe("allowedActions", () => {
  it("pauses, cancels and rolls back what is at work, queued or waiting", () => {
    for (const status of ["pending", "running", "waiting"] as const) {
      expect(allowedActions(order({ status }), [task("plan", { state: "running" })])).toEqual([
        "pause",
        "cancel",
        "rollback",
      ]);
    }
  });

  it("resumes what is paused, or about to be", () => {
    expect(allowedActions(order({ status: "paused", waiting_reason: "paused" }), [])[0]).toBe(
      "resume",
    );
    expect(
      allowedActions(order({ status: "paused", waiting_reason: "failure: agent_failed" }), [])[0],
    ).toBe("resume");
    const pausing = order({ status: "running", waiting_reason: "paused" });
    expect(isPausing(pausing)).toBe(true);
    expect(allowedActions(pausing, [])[0]).toBe("resume");
  });

  it("retries an order at work only if something in it failed and was not tolerated", () => {
    const at = order({ status: "running" });
    expect(allowedActions(at, [task("a", { state: "failed" })])).toContain("retry");
    expect(allowedActions(at, [task("a", { state: "failed", tolerated: true })])).not.toContain(
      "retry",
    );
  });

  it("retries what failed or was cancelled, but not what is completed", () => {
    expect(allowedActions(order({ status: "failed" }), [])).toEqual(["retry", "rollback"]);
    expect(allowedActions(order({ status: "cancelled" }), [])).toEqual(["retry", "rollback"]);
    expect(allowedActions(order({ status: "completed" }), [])).toEqual(["rollback"]);
  });

  it("leaves an order alone that was rolled back, or is being", () => {
    for (const status of ["running", "failed", "cancelled"] as const) {
      expect(allowedActions(order({ status, rolled_back: true }), [])).toEqual([]);
    }
    const over = order({ status: "failed", rolled_back: true });
    expect(taskActions(over, task("plan", { state: "failed" }))).toEqual([]);
    expect(promptable(over)).toEqual({
      accepted: false,
      says: "The order was rolled back. Create a new one to go on.",
    });
  });
});

describe("taskActions", () => {
  it("knows what can be decided in each state", () => {
    const by = (state: Parameters<typeof testTask>[1]) => taskActions(order(), task("a", state));
    expect(by({ state: "succeeded" })).toEqual(["retry"]);
    expect(by({ state: "failed" })).toEqual(["retry", "skip", "succeed"]);
    expect(by({ state: "running" })).toEqual(["restart", "skip", "succeed"]);
    expect(by({ state: "awaiting_approval" })).toEqual(["skip", "succeed"]);
  });
});

describe("undoSteps", () => {
  it("lists what succeeded and can be undone, the last first", () => {
    const tools = [
      { name: "forge.open_pull_request", undo: "forge.close_pull_request" },
      { name: "git.push", undo: "git.delete_branch" },
      { name: "agent.command", undo: null },
    ];
    const tasks = [
      task("plan"),
      task("push", { uses: "git.push", ended_at: "2026-03-01T10:02:00Z" }),
      task("publish", { uses: "forge.open_pull_request", ended_at: "2026-03-01T10:03:00Z" }),
      task("again", { uses: "git.push", state: "failed" }),
    ];
    expect(undoSteps(tasks, tools)).toEqual([
      { path: "publish", undo: "forge.close_pull_request" },
      { path: "push", undo: "git.delete_branch" },
    ]);
  });
});

describe("promptable", () => {
  it("takes prompts until the order has ended", () => {
    for (const status of ["pending", "running", "waiting", "paused"] as const) {
      expect(promptable(order({ status })).accepted).toBe(true);
    }
    for (const status of ["completed", "failed", "cancelled"] as const) {
      expect(promptable(order({ status })).accepted).toBe(false);
      expect(promptable(order({ status })).says).not.toBe("");
    }
  });
});

describe("bannerOf", () => {
  it("is silent about what simply runs or is done", () => {
    expect(bannerOf(order({ status: "running" }))).toBeNull();
    expect(bannerOf(order({ status: "completed" }))).toBeNull();
  });

  it("guides after a failure", () => {
    const banner = bannerOf(
      order({
        status: "failed",
        error_code: "tests_failed",
        error_message: "2 tests failed",
        error_hint: "Look at test_basket.",
      }),
    );
    expect(banner).toMatchObject({ tone: "bad", what: "2 tests failed", code: "tests_failed" });
    expect(banner?.steps[0]).toBe("Look at test_basket.");
  });

  it("says why it waits and until when", () => {
    const until = "2026-03-01T12:00:00Z";
    expect(
      bannerOf(order({ status: "waiting", waiting_reason: "model_quota", waiting_until: until })),
    ).toMatchObject({ tone: "neutral", until });
    expect(bannerOf(order({ status: "waiting", waiting_reason: "approval" }))?.tone).toBe(
      "attention",
    );
    expect(bannerOf(order({ status: "paused", waiting_reason: "paused" }))?.tone).toBe("quiet");
    expect(bannerOf(order({ status: "running", waiting_reason: "paused" }))?.title).toBe("Pausing");
  });
});

describe("small things", () => {
  it("takes unknown tabs for the overview", () => {
    expect(tabOf(undefined)).toBe("overview");
    expect(tabOf("<script>")).toBe("overview");
    expect(tabOf("logs")).toBe("logs");
  });

  it("bounds JSON", () => {
    expect(jsonText({ a: 1 })).toEqual({ text: '{\n  "a": 1\n}', cut: false });
    expect(jsonText("x".repeat(100), 10)).toEqual({ text: `"${"x".repeat(9)}`, cut: true });
    expect(jsonText(undefined).text).toBe("");
  });

  it("reads outputs, or says what is wrong with them", () => {
    expect(parseOutputs("  ")).toEqual({ value: {} });
    expect(parseOutputs('{"passed": true}')).toEqual({ value: { passed: true } });
    expect(parseOutputs("[1]")).toHaveProperty("problem");
    expect(parseOutputs("{passed}")).toHaveProperty("problem");
  });

  it("knows the scopes around a task", () => {
    expect(scopesOf("fix[2].check")).toEqual(["fix[2]", "fix"]);
    expect(scopesOf("plan")).toEqual([]);
  });
});
