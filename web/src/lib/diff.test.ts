import { describe, expect, it } from "vitest";

import { parseDiff } from "./diff";

const MODIFIED = `diff --git a/calc.py b/calc.py
index 1111111..2222222 100644
--- a/calc.py
+++ b/calc.py
@@ -1,4 +1,5 @@ def add
 def add(a, b):
-    return a - b
+    return a + b
+
 
 # end
`;

const only = (patch: string) => {
  const files = parseDiff(patch);
  expect(files).toHaveLength(1);
  const [file] = files;
  if (!file) throw new Error("no file");
  return file;
};

describe("parseDiff", () => {
  it("reads a modified file with line numbers", () => {
    const file = only(MODIFIED);
    expect(file).toMatchObject({
      key: "calc.py",
      oldPath: "calc.py",
      newPath: "calc.py",
      kind: "modified",
      additions: 2,
      deletions: 1,
    });
    expect(file.hunks).toHaveLength(1);
    expect(file.hunks[0]).toMatchObject({
      header: "@@ -1,4 +1,5 @@ def add",
      oldStart: 1,
      newStart: 1,
    });
    expect(
      file.hunks[0]?.lines.map((one) => [one.kind, one.oldNumber, one.newNumber, one.text]),
    ).toEqual([
      ["context", 1, 1, "def add(a, b):"],
      ["del", 2, null, "    return a - b"],
      ["add", null, 2, "    return a + b"],
      ["add", null, 3, ""],
      ["context", 3, 4, ""],
      ["context", 4, 5, "# end"],
    ]);
  });

  it("has nothing for nothing", () => {
    expect(parseDiff("")).toEqual([]);
    expect(parseDiff("\n\nhello\n")).toEqual([]);
  });

  it("reads added, deleted and empty files", () => {
    const added = only(
      "diff --git a/n b/n\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n",
    );
    expect(added).toMatchObject({ kind: "added", oldPath: null, newPath: "n", additions: 1 });
    const deleted = only(
      "diff --git a/n b/n\ndeleted file mode 100644\n--- a/n\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
    );
    expect(deleted).toMatchObject({ kind: "deleted", oldPath: "n", newPath: null, deletions: 1 });
    const empty = only("diff --git a/e b/e\nnew file mode 100644\nindex 0..e69de29\n");
    expect(empty).toMatchObject({ kind: "added", oldPath: null, newPath: "e", hunks: [] });
  });

  it("reads renames and copies, with and without changes", () => {
    const pure = only(
      "diff --git a/old name b/new name\nsimilarity index 100%\nrename from old name\nrename to new name\n",
    );
    expect(pure).toMatchObject({ kind: "renamed", oldPath: "old name", newPath: "new name" });
    const changed = only(
      "diff --git a/o b/d/n\nsimilarity index 90%\nrename from o\nrename to d/n\nindex 1..2\n--- a/o\n+++ b/d/n\n@@ -1 +1 @@\n-x\n+y\n",
    );
    expect(changed).toMatchObject({ kind: "renamed", oldPath: "o", newPath: "d/n", additions: 1 });
    const copied = only("diff --git a/o b/c\nsimilarity index 100%\ncopy from o\ncopy to c\n");
    expect(copied).toMatchObject({ kind: "copied", oldPath: "o", newPath: "c" });
  });

  it("reads modes and binary files", () => {
    const mode = only("diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n");
    expect(mode).toMatchObject({ kind: "mode", oldMode: "100644", newMode: "100755" });
    const binary = only(
      "diff --git a/i.png b/i.png\nindex 1..2 100644\nBinary files a/i.png and b/i.png differ\n",
    );
    expect(binary.kind).toBe("binary");
    const patch = parseDiff(
      "diff --git a/i b/i\nnew file mode 100644\nGIT binary patch\nliteral 3\nKcmZ\n\nliteral 0\nHcmV\n\ndiff --git a/x b/x\nold mode 100644\nnew mode 100755\n",
    );
    expect(patch.map((one) => [one.kind, one.oldPath])).toEqual([
      ["binary", null],
      ["mode", "x"],
    ]);
  });

  it("reads quoted names", () => {
    const file = only(
      'diff --git "a/gr\\303\\274n \\"x\\"\\t.txt" "b/gr\\303\\274n \\"x\\"\\t.txt"\n--- "a/gr\\303\\274n \\"x\\"\\t.txt"\n+++ "b/gr\\303\\274n \\"x\\"\\t.txt"\n@@ -1 +1 @@\n-a\n+b\n',
    );
    expect(file).toMatchObject({ oldPath: 'grün "x"\t.txt', newPath: 'grün "x"\t.txt' });
    const mixed = only(
      'diff --git a/plain "b/\\346\\274\\242"\nrename from plain\nrename to "\\346\\274\\242"\n',
    );
    expect(mixed).toMatchObject({ oldPath: "plain", newPath: "漢" });
    expect(only('diff --git "a/\\377" "b/\\377"\n').newPath).toBe("\ufffd");
    expect(only('diff --git "a/never ends\n').kind).toBe("modified");
  });

  it("reads names with spaces, and without prefixes", () => {
    const spaces = only(
      "diff --git a/a b c b/a b c\n--- a/a b c\t\n+++ b/a b c\t\n@@ -1 +1 @@\n-a\n+b\n",
    );
    expect(spaces).toMatchObject({ oldPath: "a b c", newPath: "a b c" });
    const bare = only("diff --git a/x.py a/x.py\n--- a/x.py\n+++ a/x.py\n@@ -1 +1 @@\n-a\n+b\n");
    expect(bare).toMatchObject({ oldPath: "a/x.py", newPath: "a/x.py" });
    expect(only("diff --git x.py x.py\nold mode 1\nnew mode 2\n").newPath).toBe("x.py");
    expect(only("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n")).toMatchObject({
      oldPath: "x",
      newPath: "x",
    });
  });

  it("notes a missing line end and CR LF", () => {
    const file = only(
      "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\r\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n",
    );
    expect(file.hunks[0]?.lines.map((one) => [one.kind, one.text, one.crlf])).toEqual([
      ["del", "a", true],
      ["nonewline", "No newline at end of file", undefined],
      ["add", "b", undefined],
      ["nonewline", "No newline at end of file", undefined],
    ]);
  });

  it("is not deceived by lines that look like headers", () => {
    const file = only(
      "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n--- a/evil\n-@@ -1 +1 @@\n-diff --git a/e b/e\n+++ b/evil\n+diff --git a/e b/e\n+@@ x\n",
    );
    expect(file.hunks[0]?.lines.map((one) => one.text)).toEqual([
      "-- a/evil",
      "@@ -1 +1 @@",
      "diff --git a/e b/e",
      "++ b/evil",
      "diff --git a/e b/e",
      "@@ x",
    ]);
  });

  it("gives every file its own key", () => {
    const files = parseDiff(MODIFIED + MODIFIED);
    expect(new Set(files.map((one) => one.key)).size).toBe(2);
  });

  it("survives being cut anywhere, and loses nothing before the cut", () => {
    const patch =
      MODIFIED +
      'diff --git "a/\\303\\274" "b/\\303\\274"\nnew file mode 100644\n--- /dev/null\n+++ "b/\\303\\274"\n@@ -0,0 +1,2 @@\n+x\n+y\n';
    for (let end = 0; end <= patch.length; end++) {
      const files = parseDiff(patch.slice(0, end));
      if (end >= MODIFIED.length) expect(files[0]).toEqual(only(MODIFIED));
    }
  });

  it("reads 4 MB", () => {
    const body = "+0123456789\n".repeat(350_000);
    const file = only(`diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1,350000 @@\n${body}`);
    expect(file.additions).toBe(350_000);
    expect(only(`diff --git ${"a ".repeat(2_000_000)}`).hunks).toEqual([]);
    expect(only(`diff --git "${"\\303\\274".repeat(100_000)}`).hunks).toEqual([]);
  });
});
