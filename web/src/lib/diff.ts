/**
 * Git's unified patches as data. A patch may be cut anywhere and may contain anything: the counts
 * in a hunk's header, not the looks of a line, decide what belongs to it. One pass, linear.
 */
import { splitHeader, unprefixed, unquoted } from "./diff-paths";

export type DiffKind = "added" | "deleted" | "modified" | "renamed" | "copied" | "mode" | "binary";

export interface DiffLine {
  kind: "context" | "add" | "del" | "nonewline";
  oldNumber: number | null;
  newNumber: number | null;
  /** Without its sign and without its line end. */
  text: string;
  /** It ended with CR LF. */
  crlf?: true;
}

export interface DiffHunk {
  /** The whole `@@ … @@ function` line. */
  header: string;
  oldStart: number;
  newStart: number;
  lines: DiffLine[];
}

export interface DiffFile {
  /** Unique in its diff; what `flattenDiff` takes for collapsed files. */
  key: string;
  /** Null for a file that was added. */
  oldPath: string | null;
  /** Null for a file that was deleted. */
  newPath: string | null;
  kind: DiffKind;
  oldMode: string | null;
  newMode: string | null;
  additions: number;
  deletions: number;
  hunks: DiffHunk[];
}

const HUNK = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/;

interface Draft extends Omit<DiffFile, "key"> {
  /** Whether the paths of its header carry `a/` and `b/`. */
  prefixed: boolean;
  isBinary: boolean;
}

class Reader {
  private readonly drafts: Draft[] = [];
  private file: Draft | null = null;
  private hunk: DiffHunk | null = null;
  private oldLeft = 0;
  private newLeft = 0;
  private oldNumber = 0;
  private newNumber = 0;

  read(line: string, next: string | undefined): void {
    if (this.hunk && this.inHunk(line, this.hunk, next)) return;
    if (line.startsWith("diff --git ")) return this.begin(line.slice(11));
    if (line.startsWith("diff --cc ")) return this.begin(line.slice(10));
    if (line.startsWith("diff --combined ")) return this.begin(line.slice(16));
    const hunk = this.file && HUNK.exec(line);
    if (this.file && hunk) return this.beginHunk(this.file, line, hunk);
    if (line.startsWith("--- ") && next?.startsWith("+++ ")) {
      // A patch without git's own header.
      if (!this.file || this.file.hunks.length > 0) this.begin(null);
    }
    if (this.file) readHeader(this.file, line);
  }

  finish(): DiffFile[] {
    const seen = new Map<string, number>();
    return this.drafts.map((draft) => {
      const { prefixed: _prefixed, isBinary, ...file } = draft;
      const path = file.newPath ?? file.oldPath ?? "";
      const times = (seen.get(path) ?? 0) + 1;
      seen.set(path, times);
      if (isBinary) file.kind = "binary";
      else if (file.kind === "modified" && isModeOnly(draft)) file.kind = "mode";
      return { ...file, key: times === 1 ? path : `${path}\0${times}` };
    });
  }

  private begin(header: string | null): void {
    const names = header === null ? null : splitHeader(trimCr(header));
    this.hunk = null;
    this.file = {
      oldPath: names?.oldPath ?? null,
      newPath: names?.newPath ?? null,
      prefixed: names?.prefixed ?? true,
      kind: "modified",
      isBinary: false,
      oldMode: null,
      newMode: null,
      additions: 0,
      deletions: 0,
      hunks: [],
    };
    this.drafts.push(this.file);
  }

  private beginHunk(file: Draft, line: string, found: RegExpExecArray): void {
    this.oldNumber = Number(found[1]);
    this.newNumber = Number(found[3]);
    this.oldLeft = found[2] === undefined ? 1 : Number(found[2]);
    this.newLeft = found[4] === undefined ? 1 : Number(found[4]);
    this.hunk = {
      header: trimCr(line),
      oldStart: this.oldNumber,
      newStart: this.newNumber,
      lines: [],
    };
    file.hunks.push(this.hunk);
  }

  /** Whether the line belongs to the hunk. */
  private inHunk(line: string, hunk: DiffHunk, next: string | undefined): boolean {
    const sign = line.charAt(0);
    if (sign === "\\") {
      const text = trimCr(line.slice(1)).trim();
      hunk.lines.push({ kind: "nonewline", oldNumber: null, newNumber: null, text });
      return true;
    }
    const oldToo = this.oldLeft > 0;
    const newToo = this.newLeft > 0;
    if (sign === "+" && newToo) {
      if (this.file) this.file.additions++;
      this.newLeft--;
      hunk.lines.push(row("add", null, this.newNumber++, line));
    } else if (sign === "-" && oldToo) {
      if (this.file) this.file.deletions++;
      this.oldLeft--;
      hunk.lines.push(row("del", this.oldNumber++, null, line));
    } else if (oldToo && newToo && (sign === " " || (sign === "" && next !== undefined))) {
      this.oldLeft--;
      this.newLeft--;
      hunk.lines.push(row("context", this.oldNumber++, this.newNumber++, line));
    } else {
      this.hunk = null;
      return false;
    }
    return true;
  }
}

function row(
  kind: DiffLine["kind"],
  oldNumber: number | null,
  newNumber: number | null,
  line: string,
): DiffLine {
  const crlf = line.endsWith("\r");
  const text = crlf ? line.slice(1, -1) : line.slice(1);
  return crlf ? { kind, oldNumber, newNumber, text, crlf } : { kind, oldNumber, newNumber, text };
}

type Header = (file: Draft, value: string) => void;

const moved =
  (kind: "renamed" | "copied", side: "oldPath" | "newPath"): Header =>
  (file, path) => {
    file.kind = kind;
    file[side] = unquoted(path);
  };

const HEADERS: [start: string, read: Header][] = [
  [
    "new file mode ",
    (file, mode) => Object.assign(file, { kind: "added", newMode: mode, oldPath: null }),
  ],
  [
    "deleted file mode ",
    (file, mode) => Object.assign(file, { kind: "deleted", oldMode: mode, newPath: null }),
  ],
  ["old mode ", (file, mode) => (file.oldMode = mode)],
  ["new mode ", (file, mode) => (file.newMode = mode)],
  ["rename from ", moved("renamed", "oldPath")],
  ["rename to ", moved("renamed", "newPath")],
  ["copy from ", moved("copied", "oldPath")],
  ["copy to ", moved("copied", "newPath")],
  ["--- ", (file, path) => readSide(file, "oldPath", path)],
  ["+++ ", (file, path) => readSide(file, "newPath", path)],
  ["Binary files ", (file) => (file.isBinary = true)],
  ["GIT binary patch", (file) => (file.isBinary = true)],
];

function readHeader(file: Draft, raw: string): void {
  if (file.hunks.length > 0) return;
  const line = trimCr(raw);
  const found = HEADERS.find(([start]) => line.startsWith(start));
  found?.[1](file, line.slice(found[0].length));
}

function readSide(file: Draft, side: "oldPath" | "newPath", text: string): void {
  const tab = text.startsWith('"') ? -1 : text.indexOf("\t");
  const name = unquoted(tab < 0 ? text : text.slice(0, tab));
  if (name === "/dev/null") {
    file[side] = null;
    if (file.kind === "modified") file.kind = side === "oldPath" ? "added" : "deleted";
  } else if (file.kind !== "renamed" && file.kind !== "copied") {
    file[side] = file.prefixed ? unprefixed(name) : name;
  }
}

function isModeOnly(draft: Draft): boolean {
  return draft.hunks.length === 0 && draft.oldMode !== null && draft.newMode !== null;
}

function trimCr(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}

export function parseDiff(patch: string): DiffFile[] {
  const reader = new Reader();
  let from = 0;
  let line = takeLine(patch, 0);
  while (line !== undefined) {
    from += line.length + 1;
    const next = takeLine(patch, from);
    reader.read(line, next);
    line = next;
  }
  return reader.finish();
}

function takeLine(patch: string, from: number): string | undefined {
  if (from >= patch.length) return undefined;
  const end = patch.indexOf("\n", from);
  return patch.slice(from, end < 0 ? patch.length : end);
}
