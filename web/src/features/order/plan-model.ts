import { parseDiff } from "@/lib/diff";

const PLAN = /(^|\/)(specs?|plans?)\/[^/]*\.md$|(^|\/)[^/]*plan[^/]*\.md$/i;
const MAX_CHARS = 20_000;

/** The plan among the files that were added or rewritten, as far as the diff shows it. */
export function planFromDiff(diff: string): { path: string; text: string } | null {
  for (const file of parseDiff(diff)) {
    const path = file.newPath;
    if (path === null || !PLAN.test(path)) continue;
    const lines = file.hunks.flatMap((hunk) =>
      hunk.lines.filter((line) => line.kind === "add" || line.kind === "context"),
    );
    const text = lines.map((line) => line.text).join("\n");
    if (text.trim() !== "") return { path, text: text.slice(0, MAX_CHARS) };
  }
  return null;
}
