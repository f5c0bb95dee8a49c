import { describe, expect, it } from "vitest";

import { seeded } from "./test-random";
import { pagesFor, placeOnPage } from "./use-windowed-pages";

describe("pagesFor", () => {
  it("covers the range", () => {
    expect(pagesFor({ start: 0, end: 20 }, 50, 1000)).toEqual([0]);
    expect(pagesFor({ start: 45, end: 60 }, 50, 1000)).toEqual([0, 1]);
    expect(pagesFor({ start: 60, end: 70 }, 50, 1000, 20)).toEqual([0, 1]);
    expect(pagesFor({ start: 990, end: 999 }, 50, 1000, 100)).toEqual([17, 18, 19]);
  });

  it("asks for nothing when there is nothing, or nonsense", () => {
    expect(pagesFor({ start: 0, end: 10 }, 50, 0)).toEqual([]);
    expect(pagesFor({ start: 0, end: 10 }, 0, 10)).toEqual([]);
    expect(pagesFor({ start: NaN, end: 10 }, 50, 10)).toEqual([]);
    expect(pagesFor({ start: 0, end: Infinity }, 50, 10)).toEqual([]);
    expect(pagesFor({ start: 0, end: 10 }, 50, NaN)).toEqual([]);
  });

  it("stays inside a list that became shorter, and is bounded", () => {
    expect(pagesFor({ start: 500, end: 520 }, 50, 60)).toEqual([1]);
    expect(pagesFor({ start: -5, end: -1 }, 50, 60)).toEqual([0]);
    expect(pagesFor({ start: 10, end: 2 }, 5, 60)).toEqual([2]);
    expect(pagesFor({ start: 0, end: 1e9 }, 1, 1e9).length).toBeLessThanOrEqual(20);
  });

  it("has every visible row on one of its pages", () => {
    const random = seeded(12);
    for (let round = 0; round < 1000; round++) {
      const count = random.int(1, 500);
      const size = random.int(10, 60);
      const start = random.int(0, count - 1);
      const end = Math.min(count - 1, start + random.int(0, 40));
      const pages = pagesFor({ start, end }, size, count, random.int(0, 20));
      for (let index = start; index <= end; index++) {
        expect(pages).toContain(placeOnPage(index, size).page);
      }
      expect(Math.max(...pages)).toBeLessThanOrEqual(Math.floor((count - 1) / size));
    }
  });
});
