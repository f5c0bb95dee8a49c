import type { Commit } from "@/api/types";

export interface CommitDay {
  /** "2026-11-15", in the reader's own time. */
  day: string;
  commits: Commit[];
}

/** Commits as they came, newest first, by the day on which they were made. */
export function commitDays(commits: readonly Commit[]): CommitDay[] {
  const days: CommitDay[] = [];
  for (const commit of commits) {
    const day = dayOf(commit.at);
    const last = days.at(-1);
    if (last?.day === day) last.commits.push(commit);
    else days.push({ day, commits: [commit] });
  }
  return days;
}

function dayOf(at: string): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return "";
  const two = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** The message below the subject without the lines that only machines read. */
export function bodyForPeople(body: string): string {
  return body
    .split("\n")
    .filter((line) => !/^Awo-[A-Za-z]+: /.test(line))
    .join("\n")
    .trim();
}
