import { describe, expect, it } from "vitest";

import type { Approval } from "@/api/types";

import { closedBecause, mostPressing, riskOf, subjectRows } from "./model";

const APPROVAL: Approval = {
  approval_id: "wo-a/deploy/0",
  agent_work_order_id: "wo-a",
  task: "deploy",
  message: "Deploy?",
  subject: { uses: "git.push", risk: "high", inputs: { branch: "main", force: false } },
  subject_hash: "ab".repeat(32),
  head_sha: null,
  state: "asked",
  asked_at: "2026-11-15T10:00:00.000Z",
  expires_at: null,
  decided_by: null,
  decided_at: null,
  comment: null,
};

describe("subjectRows", () => {
  it("names every value of the subject, also nested ones", () => {
    expect(subjectRows(APPROVAL.subject)).toEqual([
      { name: "Tool", value: "git.push", block: false },
      { name: "Risk", value: "high", block: false },
      { name: "inputs: branch", value: "main", block: false },
      { name: "inputs: force", value: "false", block: false },
    ]);
  });

  it("shows long texts and texts of several lines as blocks", () => {
    expect(subjectRows({ prompt: "a\nb" })[0]?.block).toBe(true);
    expect(subjectRows({ prompt: "x".repeat(81) })[0]?.block).toBe(true);
  });

  it("keeps empty objects and missing values visible", () => {
    expect(subjectRows({ inputs: {}, note: null }).map((one) => one.value)).toEqual(["{}", "none"]);
  });

  it("leaves markup as it is", () => {
    expect(subjectRows({ title: "<b>x</b>" })[0]?.value).toBe("<b>x</b>");
  });
});

describe("riskOf", () => {
  it("knows the three risks and nothing else", () => {
    expect(riskOf(APPROVAL)).toBe("high");
    expect(riskOf({ ...APPROVAL, subject: { risk: "<script>" } })).toBeNull();
  });
});

describe("closedBecause", () => {
  it("is silent while asked and says why otherwise", () => {
    expect(closedBecause(APPROVAL)).toBeNull();
    for (const state of ["approved", "rejected", "expired", "void"] as const) {
      expect(closedBecause({ ...APPROVAL, state })).toMatch(/\.$/);
    }
  });
});

describe("mostPressing", () => {
  const NOW = Date.parse("2026-11-15T12:00:00Z");
  const inHours = (hours: number) => new Date(NOW + hours * 3_600_000).toISOString();
  const asked = (id: string, hoursAgo: number, expiresIn: number | null = null): Approval => ({
    ...APPROVAL,
    approval_id: id,
    agent_work_order_id: `wo-${id}`,
    asked_at: inHours(-hoursAgo),
    expires_at: expiresIn === null ? null : inHours(expiresIn),
  });
  const order = (id: string, priority: string) => ({ agent_work_order_id: `wo-${id}`, priority });
  const ids = (found: Approval[]) => found.map((one) => one.approval_id);

  it("puts the urgent first, then what expires soon, then who waits longest", () => {
    const every = [
      asked("late", 1),
      asked("next-week", 3, 24 * 7),
      asked("soon", 2, 20),
      asked("sooner", 1, 2),
      asked("long", 40),
      asked("high", 1),
      asked("urgent", 1),
    ];
    const orders = [order("urgent", "urgent"), order("high", "high"), order("long", "low")];
    const sorted = ["urgent", "high", "sooner", "soon", "long", "next-week", "late"];
    expect(ids(mostPressing(every, orders, NOW))).toEqual(sorted);
    expect(ids(mostPressing([...every].reverse(), orders, NOW))).toEqual(sorted);
    expect(every[0]?.approval_id).toBe("late");
  });

  it("does without the orders while they are on their way", () => {
    const every = [asked("new", 1), asked("old", 9), asked("soon", 1, 1)];
    expect(ids(mostPressing(every, [], NOW))).toEqual(["soon", "old", "new"]);
  });
});
