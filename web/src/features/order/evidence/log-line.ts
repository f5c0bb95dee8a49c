/** A line of an order's log as a sentence. Values come from anywhere and are kept as text. */
import { asText, logSentence } from "./log-sentences";
import { clockTime } from "@/lib/time";

export interface LogLike {
  timestamp: string;
  level: string;
  event: string;
  agent_work_order_id: string;
  n: number;
  [field: string]: unknown;
}

export type LogTone = "neutral" | "good" | "warning" | "danger";

export interface LogLine {
  n: number;
  /** "14:03:07" */
  time: string;
  timestamp: string;
  level: string;
  tone: LogTone;
  title: string;
  /** The event itself, for search and for those who know it. */
  event: string;
  details: [string, string][];
}

const FIXED: ReadonlySet<string> = new Set([
  "timestamp",
  "level",
  "event",
  "agent_work_order_id",
  "n",
]);
const GOOD: ReadonlySet<string> = new Set([
  "agent_work_order_completed",
  "approval_approved",
  "github_pull_request_created",
]);

export function logLine(entry: LogLike, timeZone?: string): LogLine {
  const level = asText(entry.level).toLowerCase();
  const event = asText(entry.event);
  const said = logSentence(event, entry);
  const details = Object.entries(entry)
    .filter(
      ([name, value]) =>
        !FIXED.has(name) && !said?.used.has(name) && value !== null && value !== undefined,
    )
    .map(([name, value]): [string, string] => [name, asText(value)]);
  return {
    n: entry.n,
    time: clockTime(entry.timestamp, timeZone),
    timestamp: entry.timestamp,
    level,
    tone: toneOf(level, event, entry),
    title: said?.title ?? generic(event),
    event,
    details,
  };
}

function toneOf(level: string, event: string, entry: LogLike): LogTone {
  if (level === "error" || level === "critical") return "danger";
  if (level === "warning" || level === "warn") return "warning";
  if (GOOD.has(event)) return "good";
  if (event === "tests_completed") return entry["passed"] === true ? "good" : "warning";
  return "neutral";
}

/** `cache_warmed_up` → "Cache warmed up" */
function generic(event: string): string {
  const words = event.replaceAll("_", " ").trim();
  return words === "" ? "(no event)" : words.charAt(0).toUpperCase() + words.slice(1);
}
