import { describe, expect, it } from "vitest";

import { anApproval, anOrder, aPage, moment } from "@/api/test-fixtures";
import type { OrderSummary } from "@/api/types";
import {
  advice,
  atWork,
  isFirstRun,
  isPausing,
  quickAction,
  riskOf,
  sections,
  type Lists,
} from "./model";

const NOW = Date.parse(moment(50));
const none: Lists = { held: aPage([]), failed: aPage([]), active: aPage([]), ended: aPage([]) };
const order = (n: number, more: Partial<OrderSummary>) =>
  anOrder(n, {
    waiting_reason: null,
    error_code: null,
    error_message: null,
    error_hint: null,
    title: null,
    initial_prompt: null,
    ...more,
  });
const failedOnes = (count: number, updated_at = moment(3)) =>
  Array.from({ length: count }, (_, n) => order(n, { status: "failed", updated_at }));
const named = (lists: Partial<Lists>, name: string, approvals = [anApproval()]) =>
  sections({ ...none, ...lists }, approvals, NOW).find((one) => one.name === name)!;

describe("sections", () => {
  it("counts what it has, and says when there may be more", () => {
    expect(named({ failed: aPage(failedOnes(3)) }, "needsYou").count).toBe("4");
    expect(named({ failed: aPage(failedOnes(3), 900) }, "needsYou").count).toBe("4+");
  });

  it("does not call old failures work", () => {
    const old = failedOnes(3, "2020-01-01T00:00:00Z");
    const needsYou = named({ failed: aPage([...failedOnes(1), ...old.slice(1)], 900) }, "needsYou");
    expect([needsYou.count, needsYou.more]).toEqual(["2", false]);
  });

  it("shows few and leads to the rest", () => {
    const active = Array.from({ length: 60 }, (_, n) => order(n, { status: "running" }));
    const running = named({ active: aPage(active) }, "running");
    expect(running.items).toHaveLength(20);
    expect(running).toMatchObject({ count: "60", more: true, statuses: ["running", "pending"] });
    expect(named({}, "done")).toMatchObject({ items: [], count: "0", more: false });
  });

  it("moves an order as soon as it is expected to run", () => {
    const failed = aPage([order(1, { status: "running", current_phase: "testing" })]);
    expect(named({ failed }, "running").items.map((one) => one.reason)).toEqual(["Testing"]);
  });
});

it("knows a server without any order", () => {
  expect(isFirstRun(none)).toBe(true);
  expect(isFirstRun({ ...none, ended: aPage([], 1) })).toBe(false);
});

it("offers the one thing that helps", () => {
  const of = (more: Partial<OrderSummary>) =>
    quickAction({ key: "", reason: "", since: "", approval: null, order: order(1, more) });
  expect(of({ status: "failed" })).toBe("retry");
  expect(of({ status: "paused" })).toBe("resume");
  expect(of({ status: "waiting", waiting_reason: "failure: agent_timeout" })).toBe("retry");
  expect(of({ status: "waiting", waiting_reason: "quarantined" })).toBeNull();
  const asked = { key: "", reason: "", since: "", approval: anApproval(), order: null };
  expect(quickAction(asked)).toBeNull();
});

it("says what happened once, and what to do", () => {
  const failed = order(1, {
    status: "failed",
    error_code: "agent_failed",
    error_message: "The agent said that it failed: sh exited with 3",
    error_hint: "Read it.",
  });
  expect(advice(failed)).toEqual({ what: "sh exited with 3", next: "Read it." });
  expect(advice(order(1, { status: "failed", error_message: "Boom" })).what).toBe("Boom");
  expect(advice(order(1, { status: "paused" })).next).toMatch(/resume/i);
});

it("names the innermost tasks at work", () => {
  const running = (path: string) => ({ path, state: "running" as const });
  expect(atWork([])).toBeNull();
  expect(atWork([running("build"), { path: "test", state: "pending" }])).toBe("build");
  expect(atWork([running("mend"), running("mend[1]"), running("mend[1].build")])).toBe(
    "mend[1].build",
  );
  expect(atWork([running("build"), running("build2")])).toBe("build and build2");
  expect(atWork([running("a"), running("b"), running("c")])).toBe("a and 2 more");
});

it("reads only risks that it knows", () => {
  expect(riskOf(anApproval({ subject: { risk: "high" } }))).toBe("high");
  expect(riskOf(anApproval({ subject: { risk: "<b>" } }))).toBeNull();
});

it("sees a pause that is on its way", () => {
  expect(isPausing(order(1, { status: "running", waiting_reason: "paused" }))).toBe(true);
  expect(isPausing(order(1, { status: "running" }))).toBe(false);
});
