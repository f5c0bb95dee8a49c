import { describe, expect, it } from "vitest";

import { seeded } from "@/lib/test-random";
import { wordDiff } from "./word-diff";

describe("wordDiff", () => {
  const marked = (spans: { text: string; changed: boolean }[]) =>
    spans.map((one) => (one.changed ? `[${one.text}]` : one.text)).join("");

  it("marks the words that differ", () => {
    const { before, after } = wordDiff("return a - b;", "return a + b;");
    expect(marked(before)).toBe("return a [-] b;");
    expect(marked(after)).toBe("return a [+] b;");
    const call = wordDiff("run(one, three)", "run(one, two, three)");
    expect(marked(call.before)).toBe("run(one, three)");
    expect(marked(call.after)).toBe("run(one, [two, ]three)");
  });

  it("keeps the texts whole, and equal texts unmarked", () => {
    const random = seeded(4);
    for (let round = 0; round < 500; round++) {
      const a = random.text(["foo", " ", "(", "é", "👍", "\ud83d", "\t", "_1"], 20);
      const b = random.text(["foo", " ", "(", "é", "👍", "bar"], 20);
      const { before, after } = wordDiff(a, b);
      expect(before.map((one) => one.text).join("")).toBe(a);
      expect(after.map((one) => one.text).join("")).toBe(b);
      const same = (spans: { text: string; changed: boolean }[]) =>
        spans
          .filter((one) => !one.changed)
          .map((one) => one.text)
          .join("");
      expect(same(before)).toBe(same(after));
      expect(wordDiff(a, a).before.every((one) => !one.changed)).toBe(true);
    }
  });

  it("is bounded", () => {
    const { before } = wordDiff("a b ".repeat(100_000), "c d ".repeat(100_000));
    expect(before).toHaveLength(1);
    expect(wordDiff("a ".repeat(1000), "b ".repeat(1000)).after).toHaveLength(2);
  });
});
