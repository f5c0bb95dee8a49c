import { describe, expect, it } from "vitest";

import { seeded } from "@/lib/test-random";
import { bytes } from "./bytes";

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
