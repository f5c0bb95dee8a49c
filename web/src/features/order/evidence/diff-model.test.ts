import { describe, expect, it } from "vitest";

import { parseDiff, type DiffLine } from "@/lib/diff";

import {
  changeBar,
  collapsedFiles,
  fileStarts,
  fingerprint,
  lineParts,
  nextFile,
  viewRows,
  visible,
} from "./diff-model";

const PATCH = `diff --git a/calc.py b/calc.py
index 1..2 100644
--- a/calc.py
+++ b/calc.py
@@ -1,4 +1,5 @@ def total():
 first
-old one
-old two
+new one
+new two
+new three
 last
diff --git a/package-lock.json b/package-lock.json
--- a/package-lock.json
+++ b/package-lock.json
@@ -1 +1 @@
-a
+b
`;

const line = (kind: DiffLine["kind"], text: string): DiffLine => ({
  kind,
  oldNumber: 1,
  newNumber: 1,
  text,
});

describe("rows", () => {
  it("pairs removed with added lines and leaves the rest of a side empty", () => {
    const rows = viewRows(parseDiff(PATCH), new Set(), "split");
    const pairs = rows.flatMap((row) =>
      row.type === "pair" && row.file.key === "calc.py" ? [[row.left?.text, row.right?.text]] : [],
    );
    expect(pairs).toEqual([
      ["first", "first"],
      ["old one", "new one"],
      ["old two", "new two"],
      [undefined, "new three"],
      ["last", "last"],
    ]);
  });

  it("has unique keys in both layouts", () => {
    for (const layout of ["unified", "split"] as const) {
      const keys = viewRows(parseDiff(PATCH), new Set(), layout).map((row) => row.key);
      expect(new Set(keys).size).toBe(keys.length);
    }
  });

  it("folds generated files until somebody opens them", () => {
    const files = parseDiff(PATCH);
    expect([...collapsedFiles(files, new Map())]).toEqual(["package-lock.json"]);
    expect([...collapsedFiles(files, new Map([["package-lock.json", false]]))]).toEqual([]);
    expect([...collapsedFiles(files, new Map([["calc.py", true]]))]).toContain("calc.py");
  });

  it("goes from file to file and stops at the ends", () => {
    const starts = fileStarts(viewRows(parseDiff(PATCH), new Set(), "unified"));
    expect(starts).toHaveLength(2);
    const second = starts[1] ?? -1;
    expect(nextFile(starts, 0, 1)).toBe(second);
    expect(nextFile(starts, second + 1, -1)).toBe(second);
    expect(nextFile(starts, second, -1)).toBe(0);
    expect(nextFile(starts, second, 1)).toBeNull();
    expect(nextFile(starts, 0, -1)).toBeNull();
  });
});

describe("lines", () => {
  it("shows what a terminal would obey", () => {
    expect(visible("a\u001b[31mb\u0000c\u202ed\u009be")).toBe("a⟨U+001B⟩[31mb⟨U+0000⟩c⟨U+202E⟩d⟨U+009B⟩e");
    expect(visible("tab\tstays")).toBe("tab\tstays");
  });

  it("marks the words that differ, and nothing when all of them do", () => {
    const parts = lineParts(line("add", "x = price * count"), "x = price");
    expect(parts.filter((part) => part.changed).map((part) => part.text)).toEqual([" * count"]);
    expect(lineParts(line("del", "alpha"), "beta")).toEqual([{ text: "alpha", changed: false }]);
  });

  it("shows spaces at the end of added lines and carriage returns", () => {
    expect(lineParts(line("add", "x \t"), null).map((part) => part.text)).toEqual(["x", "·→"]);
    expect(lineParts(line("context", "x "), null).map((part) => part.text)).toEqual(["x "]);
    expect(lineParts({ ...line("add", "x"), crlf: true }, null).at(-1)?.text).toBe("⟨CR⟩");
  });
});

it("knows a file that changed since it was looked at", () => {
  const [before] = parseDiff(PATCH);
  const [after] = parseDiff(PATCH.replace("new three", "new 3"));
  expect(before && after && fingerprint(before) !== fingerprint(after)).toBe(true);
});

it("draws changes in five boxes, never hiding a side", () => {
  expect(changeBar(0, 0)).toEqual(["none", "none", "none", "none", "none"]);
  expect(changeBar(1, 0)).toEqual(["add", "none", "none", "none", "none"]);
  expect(changeBar(1000, 1)).toEqual(["add", "add", "add", "add", "del"]);
  expect(changeBar(1, 1000)).toEqual(["add", "del", "del", "del", "del"]);
});
