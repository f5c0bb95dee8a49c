import { describe, expect, it } from "vitest";

import { phaseSteps, type PhaseInput } from "./phases";

const at = (minute: number) => `2026-03-12T12:${String(minute).padStart(2, "0")}:00Z`;
const NOW = Date.parse(at(30));
const span = (phase: string, from: number, to: number | null, commits = 0) => ({
  phase,
  started_at: at(from),
  completed_at: to === null ? null : at(to),
  commits,
});
const states = (input: Partial<PhaseInput>) =>
  phaseSteps({ status: "running", currentPhase: null, history: [], now: NOW, ...input }).map(
    (one) => one.state,
  );

describe("phaseSteps", () => {
  it("has everything ahead at first", () => {
    expect(states({ status: "pending" })).toEqual(["upcoming", "upcoming", "upcoming", "upcoming"]);
  });

  it("tells what is under way, for how long, with how many commits", () => {
    const steps = phaseSteps({
      status: "running",
      currentPhase: "implementing",
      now: NOW,
      history: [span("planning", 0, 5, 1), span("implementing", 10, null, 2)],
    });
    expect(steps.map((one) => one.state)).toEqual(["done", "current", "upcoming", "upcoming"]);
    expect(steps.map((one) => one.durationMs)).toEqual([300_000, 1_200_000, null, null]);
    expect(steps.map((one) => one.commits)).toEqual([1, 2, 0, 0]);
  });

  it("waits, fails, is cancelled", () => {
    const history = [span("planning", 0, 5), span("implementing", 5, null)];
    const currentPhase = "implementing";
    expect(states({ status: "waiting", currentPhase, history })[1]).toBe("waiting");
    expect(states({ status: "paused", currentPhase, history })[1]).toBe("waiting");
    expect(states({ status: "failed", currentPhase, history })).toEqual([
      "done",
      "failed",
      "skipped",
      "skipped",
    ]);
    expect(states({ status: "cancelled", currentPhase, history })).toEqual([
      "done",
      "skipped",
      "skipped",
      "skipped",
    ]);
  });

  it("skips phases that a workflow does not have", () => {
    expect(states({ currentPhase: "testing", history: [span("testing", 0, null)] })).toEqual([
      "skipped",
      "skipped",
      "current",
      "upcoming",
    ]);
    expect(
      states({
        status: "completed",
        currentPhase: "completed",
        history: [span("implementing", 0, 5)],
      }),
    ).toEqual(["skipped", "done", "skipped", "done"]);
  });

  it("has no duration for what was broken off without an end", () => {
    const steps = phaseSteps({
      status: "failed",
      currentPhase: "planning",
      now: NOW,
      history: [span("planning", 0, null)],
    });
    expect(steps[0]?.durationMs).toBeNull();
  });

  it("ignores phases that it does not know", () => {
    expect(states({ currentPhase: "dreaming", history: [span("dreaming", 0, 1)] })).toEqual([
      "upcoming",
      "upcoming",
      "upcoming",
      "upcoming",
    ]);
  });
});
