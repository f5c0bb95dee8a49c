import { describe, expect, it } from "vitest";

import { barPercent, costSummary, taskCost } from "./cost-model";

const entry = (data: Record<string, unknown>, text = "end of turn") => ({
  cursor: 0,
  kind: "system",
  text,
  data,
});

describe("the cost of a task", () => {
  it("takes what a session had cost before from what it has cost now", () => {
    const cost = taskCost("build", [
      entry({ model: "opus" }, "session 1"),
      entry({ num_turns: 3, total_cost_usd: 0.5 }),
      entry({ num_turns: 1, total_cost_usd: 0.75 }),
    ]);
    expect(cost.runs.map((run) => run.costUsd)).toEqual([0.5, 0.25]);
    expect(cost).toMatchObject({ costUsd: 0.75, turns: 4, models: ["opus"], scripted: false });
  });

  it("believes the order's books before a transcript, and says how sure they are", () => {
    const booked = {
      cost_usd: 2,
      cost_certainty: "at_least" as const,
      input_tokens: 30,
      output_tokens: 20,
      turns: 10,
      model: "opus",
    };
    const told = [entry({ num_turns: 3, total_cost_usd: 0.5 })];
    expect(taskCost("build", told, booked)).toMatchObject({
      costUsd: 2,
      certainty: "at_least",
      turns: 10,
      models: ["opus"],
    });
    expect(taskCost("build", told).certainty).toBe("exact");
  });

  it("begins anew when a session does", () => {
    const cost = taskCost("build", [
      entry({ num_turns: 3, total_cost_usd: 0.5 }),
      entry({ num_turns: 2, total_cost_usd: 0.2 }),
    ]);
    expect(cost.costUsd).toBeCloseTo(0.7);
  });

  it("reads tokens and caches when they are told", () => {
    const usage = {
      input_tokens: 10,
      output_tokens: 5,
      cache_read_input_tokens: 100,
      cache_creation_input_tokens: 20,
      cost_usd: 0.1,
    };
    expect(taskCost("t", [entry({ usage })])).toMatchObject({
      inputTokens: 10,
      outputTokens: 5,
      cacheTokens: 120,
      costUsd: 0.1,
    });
  });

  it("reads plugged-in programs, and does not invent zeros", () => {
    expect(taskCost("t", [entry({ cost_usd: 0.3 })])).toMatchObject({
      costUsd: 0.3,
      inputTokens: null,
      turns: null,
    });
    expect(taskCost("t", []).costUsd).toBeNull();
    expect(taskCost("t", [entry({ cost_usd: "1e9" }), entry({ cost_usd: -4 })]).costUsd).toBeNull();
  });
});

describe("the order", () => {
  it("says what no transcript explains", () => {
    const told = taskCost("build", [entry({ cost_usd: 0.3 })]);
    const summary = costSummary([told], { cost_usd: 0.5, agent: { name: "claude_code" } });
    expect(summary.unexplainedUsd).toBeCloseTo(0.2);
    expect(summary.mostUsd).toBeCloseTo(0.3);
    const equal = costSummary([told], { cost_usd: 0.300_000_1, agent: {} });
    expect(equal.unexplainedUsd).toBe(0);
  });

  it("knows when only scripts ran", () => {
    const scripted = taskCost("plan", [entry({ scripted: true })]);
    const order = { cost_usd: 0, agent: { name: "scripted" } };
    expect(costSummary([scripted], order).onlyScripted).toBe(true);
    expect(costSummary([], order).onlyScripted).toBe(true);
    expect(costSummary([scripted, taskCost("b", [])], order).onlyScripted).toBe(false);
  });
});

it("draws bars that are seen", () => {
  expect(barPercent(0.0001, 10)).toBe(1);
  expect(barPercent(5, 10)).toBe(50);
  expect(barPercent(null, 10)).toBe(0);
  expect(barPercent(1, 0)).toBe(0);
});
