/** A diff as rows of one long virtual list, and the words that differ between two lines. */
import type { DiffFile, DiffHunk, DiffLine } from "@/lib/diff";
import { plural } from "@/lib/text";

export type DiffRow =
  | { type: "file"; key: string; file: DiffFile; collapsed: boolean }
  | { type: "note"; key: string; file: DiffFile; text: string }
  | { type: "hunk"; key: string; file: DiffFile; hunk: DiffHunk }
  | {
      type: "line";
      key: string;
      file: DiffFile;
      line: DiffLine;
      /** The text of the line that this one replaces or is replaced by, for `wordDiff`. */
      counterpart: string | null;
    };

export function flattenDiff(files: readonly DiffFile[], collapsed: ReadonlySet<string>): DiffRow[] {
  const rows: DiffRow[] = [];
  files.forEach((file, number) => {
    const isCollapsed = collapsed.has(file.key);
    rows.push({ type: "file", key: `${number}`, file, collapsed: isCollapsed });
    if (isCollapsed) return;
    const note = noteOf(file);
    if (note) rows.push({ type: "note", key: `${number}:note`, file, text: note });
    file.hunks.forEach((hunk, at) => {
      const key = `${number}:${at}`;
      rows.push({ type: "hunk", key, file, hunk });
      const counterparts = pairs(hunk.lines);
      hunk.lines.forEach((line, index) => {
        const counterpart = counterparts.get(index) ?? null;
        rows.push({ type: "line", key: `${key}:${index}`, file, line, counterpart });
      });
    });
  });
  return rows;
}

function noteOf(file: DiffFile): string | null {
  if (file.kind === "binary") return "Binary file, not shown";
  if (file.oldMode !== null && file.newMode !== null) {
    return `Mode changed from ${file.oldMode} to ${file.newMode}`;
  }
  if (file.hunks.length > 0) return null;
  if (file.kind === "renamed") return "Renamed without changes";
  if (file.kind === "copied") return "Copied without changes";
  return file.kind === "added" || file.kind === "deleted" ? "Empty file" : "No changes to show";
}

/** Removed lines followed by as many added ones are taken for the same lines, changed. */
function pairs(lines: readonly DiffLine[]): Map<number, string> {
  const found = new Map<number, string>();
  let at = 0;
  while (at < lines.length) {
    if (lines[at]?.kind !== "del") {
      at++;
      continue;
    }
    const removed: number[] = [];
    const added: number[] = [];
    for (; isOf(lines[at], "del"); at++) if (lines[at]?.kind === "del") removed.push(at);
    for (; isOf(lines[at], "add"); at++) if (lines[at]?.kind === "add") added.push(at);
    if (removed.length !== added.length) continue;
    removed.forEach((left, index) => {
      const right = added[index];
      if (right === undefined) return;
      found.set(left, lines[right]?.text ?? "");
      found.set(right, lines[left]?.text ?? "");
    });
  }
  return found;
}

function isOf(line: DiffLine | undefined, kind: "add" | "del"): boolean {
  return line?.kind === kind || line?.kind === "nonewline";
}

/** "3 files, 12 added, 4 removed" */
export function summariseDiff(files: readonly DiffFile[]): string {
  const added = files.reduce((sum, file) => sum + file.additions, 0);
  const removed = files.reduce((sum, file) => sum + file.deletions, 0);
  return `${plural(files.length, "file")}, ${added.toLocaleString("en-US")} added, ${removed.toLocaleString("en-US")} removed`;
}
