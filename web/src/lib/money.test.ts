import { describe, expect, it } from "vitest";

import { certaintyWord, compact, exactMoney, money } from "./money";

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
