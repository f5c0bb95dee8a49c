/** What the diff viewer shows: rows for one column or two, parts of a line, what is folded at first. */
import type { DiffFile, DiffHunk, DiffLine } from "@/lib/diff";
import { flattenDiff, type DiffRow } from "./diff-rows";
import { clean } from "@/lib/text";
import { wordDiff, type WordSpan } from "./word-diff";

export type DiffLayout = "unified" | "split";

/** Two sides of one line: a change, or the same text twice. */
export interface PairRow {
  type: "pair";
  key: string;
  file: DiffFile;
  left: DiffLine | null;
  right: DiffLine | null;
}

export type ViewRow = DiffRow | PairRow;

/** Nobody reviews these line by line. */
const GENERATED = [
  /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?)$/,
  /(^|\/)(poetry\.lock|uv\.lock|pdm\.lock|Pipfile\.lock|Cargo\.lock|go\.sum|composer\.lock|Gemfile\.lock)$/,
  /(^|\/)(node_modules|vendor|third_party|dist|__snapshots__)\//,
  /\.(min\.(js|css)|map|snap|pb\.go|g\.dart)$/,
  /(_pb2(_grpc)?\.pyi?|\.generated\.[a-z]+)$/,
];
/** More changed lines than anybody reads at a glance. */
const HUGE_LINES = 1000;

export function pathOf(file: DiffFile): string {
  return file.newPath ?? file.oldPath ?? "(no name)";
}

export function isGenerated(path: string): boolean {
  return GENERATED.some((pattern) => pattern.test(path));
}

/** Why a file is folded until somebody opens it. */
export function foldedReason(file: DiffFile): string | null {
  if (isGenerated(pathOf(file))) return "Generated";
  return file.additions + file.deletions > HUGE_LINES ? "Large" : null;
}

/** What readers chose, else what is sensible. */
export function collapsedFiles(
  files: readonly DiffFile[],
  chosen: ReadonlyMap<string, boolean>,
): Set<string> {
  const folded = files.filter((file) => chosen.get(file.key) ?? foldedReason(file) !== null);
  return new Set(folded.map((file) => file.key));
}

export function viewRows(
  files: readonly DiffFile[],
  collapsed: ReadonlySet<string>,
  layout: DiffLayout,
): ViewRow[] {
  const flat = flattenDiff(files, collapsed);
  if (layout === "unified") return flat;
  const rows: ViewRow[] = [];
  for (const row of flat) {
    if (row.type === "line") continue;
    rows.push(row);
    if (row.type === "hunk") rows.push(...pairRows(row.file, row.hunk, row.key));
  }
  return rows;
}

function pairRows(file: DiffFile, hunk: DiffHunk, key: string): PairRow[] {
  const rows: PairRow[] = [];
  let removed: DiffLine[] = [];
  let added: DiffLine[] = [];
  const push = (left: DiffLine | null, right: DiffLine | null) =>
    rows.push({ type: "pair", key: `${key}:${rows.length}`, file, left, right });
  const flush = () => {
    const most = Math.max(removed.length, added.length);
    for (let at = 0; at < most; at++) push(removed[at] ?? null, added[at] ?? null);
    removed = [];
    added = [];
  };
  let last: DiffLine["kind"] = "context";
  for (const line of hunk.lines) {
    if (line.kind === "del") {
      if (added.length > 0) flush();
      removed.push(line);
    } else if (line.kind === "add") {
      added.push(line);
    } else if (line.kind === "context") {
      flush();
      push(line, line);
    } else if (last === "del") removed.push(line);
    else if (last === "add") added.push(line);
    else push(line, line);
    if (line.kind !== "nonewline") last = line.kind;
  }
  flush();
  return rows;
}

/** The rows at which files begin. */
export function fileStarts(rows: readonly ViewRow[]): number[] {
  return rows.flatMap((row, index) => (row.type === "file" ? [index] : []));
}

/** The file before or after the one that the row at `top` belongs to; null at the ends. */
export function nextFile(starts: readonly number[], top: number, step: 1 | -1): number | null {
  if (step === 1) return starts.find((start) => start > top) ?? null;
  return starts.findLast((start) => start < top) ?? null;
}

/** Control characters by their numbers, so that a reviewer sees what a terminal obeys. */
export function visible(text: string): string {
  const shown = text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, (char) => {
    return `⟨U+${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
  return clean(shown);
}

export interface LinePart extends WordSpan {
  /** Spaces at the end of a line that was added. */
  trailing?: true;
}

/** A line in parts, ready to be shown. */
export function lineParts(line: DiffLine, counterpart: string | null): LinePart[] {
  const spans: LinePart[] = wordSpans(line, counterpart);
  const shown = spans.map((span) => ({ ...span, text: visible(span.text) }));
  const end = line.kind === "add" ? splitTrailing(shown) : shown;
  return line.crlf ? [...end, { text: "⟨CR⟩", changed: false, trailing: true }] : end;
}

function wordSpans(line: DiffLine, counterpart: string | null): WordSpan[] {
  if (counterpart === null || (line.kind !== "add" && line.kind !== "del")) {
    return [{ text: line.text, changed: false }];
  }
  const spans =
    line.kind === "del"
      ? wordDiff(line.text, counterpart).before
      : wordDiff(counterpart, line.text).after;
  // Everything changed: an emphasis on all of it says nothing.
  return spans.every((span) => span.changed) ? [{ text: line.text, changed: false }] : spans;
}

function splitTrailing(parts: LinePart[]): LinePart[] {
  const last = parts.at(-1);
  const found = last && /[ \t]+$/.exec(last.text);
  if (!last || !found) return parts;
  const shown = found[0].replaceAll(" ", "·").replaceAll("\t", "→");
  const kept = last.text.slice(0, found.index);
  const rest: LinePart[] = kept === "" ? [] : [{ ...last, text: kept }];
  return [...parts.slice(0, -1), ...rest, { text: shown, changed: last.changed, trailing: true }];
}

const fingerprints = new WeakMap<DiffFile, string>();

/** Tells whether a file is still what somebody looked at. */
export function fingerprint(file: DiffFile): string {
  const known = fingerprints.get(file);
  if (known !== undefined) return known;
  const made = hashed(file);
  fingerprints.set(file, made);
  return made;
}

function hashed(file: DiffFile): string {
  let hash = 0x811c9dc5;
  const add = (text: string) => {
    for (let at = 0; at < text.length; at++) {
      hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    }
  };
  add(`${file.kind}\n${file.oldPath}\n${file.newPath}\n${file.oldMode}\n${file.newMode}`);
  for (const hunk of file.hunks) {
    add(hunk.header);
    for (const line of hunk.lines) add(`${line.kind}${line.text}`);
  }
  return (hash >>> 0).toString(36);
}

/** Five boxes, as many green and red as their share of the changed lines. */
export function changeBar(additions: number, deletions: number): ("add" | "del" | "none")[] {
  const total = additions + deletions;
  if (total === 0) return Array.from({ length: 5 }, () => "none");
  const boxes = Math.min(5, total);
  let green = Math.round((additions / total) * boxes);
  if (additions > 0) green = Math.max(1, green);
  if (deletions > 0) green = Math.min(boxes - 1, green);
  return Array.from({ length: 5 }, (_, at) => (at >= boxes ? "none" : at < green ? "add" : "del"));
}
