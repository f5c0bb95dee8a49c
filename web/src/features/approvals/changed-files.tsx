import { useMemo } from "react";

import { type DiffFile, parseDiff } from "@/lib/diff";
import { clean, count, plural } from "@/lib/text";
import { PatchLine } from "@/ui/patch-line";
import { SafeText } from "@/ui/safe-text";

const MOST_FILES = 100;
const MOST_LINES = 400;

/** Every changed file, folded; the beginning of its changes when opened. */
export function ChangedFiles({ patch, truncated }: { patch: string; truncated: boolean }) {
  const files = useMemo(() => parseDiff(patch), [patch]);
  const added = files.reduce((sum, file) => sum + file.additions, 0);
  const removed = files.reduce((sum, file) => sum + file.deletions, 0);
  return (
    <>
      <p className="mb-2 text-[13px] text-ink-soft">
        {plural(files.length, "file")}, <span className="text-good">{count(added)} added</span>,{" "}
        <span className="text-bad">{count(removed)} removed</span>
        {truncated && " (the diff is longer; this is its beginning)"}
      </p>
      <ul className="flex flex-col gap-1.5">
        {files.slice(0, MOST_FILES).map((file) => (
          <li key={file.key}>
            <OneFile file={file} open={files.length <= 3} />
          </li>
        ))}
      </ul>
      {files.length > MOST_FILES && (
        <p className="mt-2 text-[13px] text-ink-soft">
          {count(files.length - MOST_FILES)} more in the diff viewer.
        </p>
      )}
    </>
  );
}

function OneFile({ file, open }: { file: DiffFile; open: boolean }) {
  const lines = file.hunks.flatMap((hunk) => hunk.lines);
  const path = file.newPath ?? file.oldPath ?? "";
  return (
    <details open={open} className="min-w-0 rounded-md border border-line">
      <summary className="cursor-pointer px-3 py-1.5">
        {file.oldPath !== null && file.oldPath !== path && (
          <SafeText
            className="font-mono text-[13px] break-all text-ink-soft"
            text={`${file.oldPath} → `}
          />
        )}
        <SafeText className="font-mono text-[13px] break-all" text={path} />{" "}
        <span className="text-xs whitespace-nowrap text-ink-soft tabular-nums">
          {file.kind} +{count(file.additions)} −{count(file.deletions)}
        </span>
      </summary>
      <pre
        tabIndex={0}
        role="region"
        aria-label={`Changes of ${clean(path)}`}
        className="max-h-96 overflow-auto border-t border-line font-mono text-[12px] leading-5"
      >
        {lines.slice(0, MOST_LINES).map((line, index) => (
          <PatchLine key={index} kind={line.kind} text={line.text} />
        ))}
        {lines.length > MOST_LINES && (
          <div className="px-3 text-ink-faint">
            {plural(lines.length - MOST_LINES, "more line")}
          </div>
        )}
        {lines.length === 0 && <div className="px-3 text-ink-faint">Nothing to show as text</div>}
      </pre>
    </details>
  );
}
