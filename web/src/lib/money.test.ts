import { describe, expect, it } from "vitest";

import { bytes } from "./bytes";
import { certaintyWord, compact, exactMoney, money } from "./money";
import { seeded } from "./test-random";

describe("money", () => {
  it.each([
    [0, "$0.00"],
    [0.004, "<$0.01"],
    [0.42, "$0.42"],
    [12.5, "$12.50"],
    [999.999, "$1,000"],
    [1204.2, "$1,204"],
    [-3, "−$3.00"],
    [NaN, "—"],
    [null, "—"],
    [undefined, "—"],
    [Infinity, "—"],
  ])("%s is %s", (usd, words) => {
    expect(money(usd)).toBe(words);
  });

  it("says how sure it is", () => {
    expect(certaintyWord("exact")).toBe("");
    expect(certaintyWord("estimated") + money(0.5)).toBe("about $0.50");
    expect(certaintyWord("at_least") + money(0)).toBe("at least $0.00");
  });

  it("has the exact amount too", () => {
    expect(exactMoney(0.004217)).toBe("$0.004217");
    expect(exactMoney(3)).toBe("$3.00");
    expect(exactMoney(null)).toBe("—");
  });

  it.each([
    [0, "0"],
    [950, "950"],
    [999.6, "1000"],
    [1000, "1k"],
    [12_430, "12.4k"],
    [999_999, "1M"],
    [3_100_000, "3.1M"],
    [2e9, "2B"],
    [null, "—"],
  ])("compact %s is %s", (count, words) => {
    expect(compact(count)).toBe(words);
  });
});

describe("bytes", () => {
  it.each([
    [0, "0 B"],
    [812, "812 B"],
    [1000, "1.0 kB"],
    [1400, "1.4 kB"],
    [9_960, "10 kB"],
    [999_600, "1.0 MB"],
    [23_000_000, "23 MB"],
    [1.1e9, "1.1 GB"],
    [1e21, "1000000 PB"],
    [-1, "—"],
    [NaN, "—"],
    [null, "—"],
  ])("%s is %s", (count, words) => {
    expect(bytes(count)).toBe(words);
  });

  it("never rounds to 1000 of a unit", () => {
    const random = seeded(9);
    for (let round = 0; round < 2000; round++) {
      expect(bytes(random.int(0, 10 ** random.int(1, 14)))).not.toMatch(/^1000 /);
    }
  });
});
