import { expect, it } from "vitest";

import type { Commit } from "@/api/types";

import { bodyForPeople, commitDays } from "./git-model";

const commit = (sha: string, at: string) => ({ sha, at }) as Commit;

it("groups commits by day and keeps their order", () => {
  const days = commitDays([
    commit("c", "2026-11-16T12:00:00Z"),
    commit("b", "2026-11-15T12:30:00Z"),
    commit("a", "2026-11-15T12:00:00Z"),
  ]);
  expect(days.map((day) => day.commits.map((one) => one.sha))).toEqual([["c"], ["b", "a"]]);
});

it("leaves out what only machines read", () => {
  expect(bodyForPeople("Why it matters.\n\nAwo-Order: wo-1\nAwo-Key: x")).toBe("Why it matters.");
  expect(bodyForPeople("Awo-Order: wo-1")).toBe("");
});
