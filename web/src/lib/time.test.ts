import { describe, expect, it } from "vitest";

import { seeded } from "./test-random";
import { between, clockTime, duration, exact, instant, relative } from "./time";

const NOW = Date.UTC(2026, 2, 12, 12, 0, 0);
const ago = (ms: number) => new Date(NOW - ms).toISOString();
const MIN = 60_000;
const HOUR = 60 * MIN;
const DAY = 24 * HOUR;

describe("relative", () => {
  it.each([
    [0, "just now"],
    [44_000, "just now"],
    [-20_000, "just now"],
    [50_000, "1 min ago"],
    [5 * MIN, "5 min ago"],
    [-5 * MIN, "in 5 min"],
    [50 * MIN, "1 h ago"],
    [3 * HOUR, "3 h ago"],
    [-3 * HOUR, "in 3 h"],
    [DAY, "yesterday"],
    [-DAY, "tomorrow"],
    [5 * DAY, "5 days ago"],
    [30 * DAY, "10 Feb"],
    [400 * DAY, "5 Feb 2025"],
  ])("%d ms ago is %s", (ms, words) => {
    expect(relative(ago(ms), NOW)).toBe(words);
  });

  it("has a dash for what is no time", () => {
    for (const value of [null, undefined, "", "yesterday-ish", NaN]) {
      expect(relative(value, NOW)).toBe("—");
      expect(exact(value)).toBe("—");
      expect(clockTime(value)).toBe("—");
    }
    expect(exact(1e17)).toBe("—");
  });
});

describe("exact", () => {
  it("says everything", () => {
    expect(exact("2026-03-12T14:03:07Z", "UTC")).toBe("12 Mar 2026, 14:03:07 UTC");
    expect(clockTime("2026-03-12T14:03:07.123456Z", "UTC")).toBe("14:03:07");
  });
});

describe("duration", () => {
  it.each([
    [0, "0 s"],
    [430, "0.4 s"],
    [9_980, "10 s"],
    [12_400, "12 s"],
    [59_600, "1 min"],
    [185_000, "3 min 5 s"],
    [3_599_800, "1 h"],
    [7_800_000, "2 h 10 min"],
    [DAY - 10, "1 d"],
    [3 * DAY + 4 * HOUR, "3 d 4 h"],
    [-5, "0 s"],
  ])("%d ms is %s", (ms, words) => {
    expect(duration(ms)).toBe(words);
  });

  it("never speaks of 60 seconds, 60 minutes or 24 hours", () => {
    const random = seeded(8);
    for (let round = 0; round < 3000; round++) {
      const words = duration(random.int(0, 10 ** random.int(1, 10)));
      expect(words).not.toMatch(/\b60 (s|min)|\b24 h|NaN/);
    }
    expect(duration(null)).toBe("—");
    expect(duration(NaN)).toBe("—");
  });
});

describe("between", () => {
  it("measures", () => {
    expect(between("2026-01-01T00:00:00Z", "2026-01-01T00:00:02Z")).toBe(2000);
    expect(between("2026-01-01T00:00:02Z", "2026-01-01T00:00:00Z")).toBe(0);
    expect(between(null, NOW)).toBeNull();
    expect(between(NOW, "x")).toBeNull();
    expect(instant(5)).toBe(5);
  });
});
