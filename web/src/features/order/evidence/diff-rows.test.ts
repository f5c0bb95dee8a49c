import { describe, expect, it } from "vitest";

import { parseDiff } from "@/lib/diff";
import { seeded } from "@/lib/test-random";
import { flattenDiff, summariseDiff } from "./diff-rows";

describe("flattenDiff", () => {
  it("makes rows, pairs changed lines, and folds files", () => {
    const files = parseDiff(
      "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n-b\n+c\n+d\n@@ -9 +9,2 @@\n-e\n+f\n+g\ndiff --git a/i b/i\nBinary files a/i and b/i differ\n",
    );
    const rows = flattenDiff(files, new Set());
    expect(rows.map((row) => row.type)).toEqual([
      "file",
      "hunk",
      "line",
      "line",
      "line",
      "line",
      "hunk",
      "line",
      "line",
      "line",
      "file",
      "note",
    ]);
    const counterparts = rows.flatMap((row) => (row.type === "line" ? [row.counterpart] : []));
    expect(counterparts).toEqual(["c", "d", "a", "b", null, null, null]);
    expect(new Set(rows.map((row) => row.key)).size).toBe(rows.length);
    const folded = flattenDiff(files, new Set(["x"]));
    expect(folded.map((row) => row.type)).toEqual(["file", "file", "note"]);
    expect(summariseDiff(files)).toBe("2 files, 4 added, 3 removed");
  });

  it("ends, whatever comes", () => {
    const random = seeded(3);
    const pieces = [
      "diff --git ",
      "a/x b/x",
      "\n",
      "--- ",
      "+++ ",
      "@@ -1,3 +1,3 @@",
      "+a",
      "-b",
      " c",
      "\\ No",
      '"',
      "\\30",
      "rename from ",
      "\r",
      "/dev/null",
      "\t",
      "999999999",
    ];
    for (let round = 0; round < 2000; round++) {
      const patch = random.text(pieces, 60);
      const files = parseDiff(patch);
      flattenDiff(files, new Set());
      const lines = files.flatMap((file) => file.hunks.flatMap((hunk) => hunk.lines));
      expect(lines.length).toBeLessThanOrEqual(patch.split("\n").length);
    }
  });
});
