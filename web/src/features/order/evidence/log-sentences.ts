/** The sentences of the events that orders are known to log (docs/reference/events.md). */
import { firstLine, truncate } from "@/lib/text";
import { duration } from "@/lib/time";

type Fields = Record<string, unknown>;
type Part = (name: string) => string;

/** A template in words; `part` gives a field and marks it as told. */
type Sentence = (part: Part, fields: Fields) => string;

const by = (part: Part) => (part("by") ? ` by ${part("by")}` : "");
const task = (part: Part) => part("task") || "A task";
const short = (sha: string) => sha.slice(0, 10);

const SENTENCES: Record<string, Sentence> = {
  agent_command_started: (part) =>
    `${part("agent") || "The agent"} started ${part("command_name") || "work"}`,
  agent_command_completed: (part, { duration_seconds: seconds }) => {
    part("duration_seconds");
    const took = typeof seconds === "number" ? ` in ${duration(seconds * 1000)}` : "";
    return `${part("agent") || "The agent"} finished ${part("command_name") || "work"}${took}`;
  },
  agent_command_failed: (part) =>
    `${part("agent") || "The agent"} failed at ${part("command_name") || "work"}`,
  agent_work_order_cancel_asked: (part) => `Cancelling was asked for${by(part)}`,
  agent_work_order_cancelled: () => "The order was cancelled",
  agent_work_order_completed: () => "The order is completed",
  agent_work_order_created: (part) => `The order was created${by(part)}`,
  agent_work_order_failed: (part) => `The order failed${because(part)}`,
  agent_work_order_paused: (part) => `Paused${by(part)}`,
  agent_work_order_resumed: (part) => `Resumed${by(part)}`,
  agent_work_order_retried: (part) =>
    `Retried${part("task") ? ` from ${part("task")}` : ""}${by(part)}`,
  agent_work_order_rollback_asked: (part) => `Rolling back was asked for${by(part)}`,
  agent_work_order_started: (part) =>
    `The order started${part("workflow_type") ? ` ${part("workflow_type")}` : ""}`,
  approval_approved: (part) => `${task(part)} was approved${by(part)}`,
  approval_rejected: (part) => `${task(part)} was rejected${by(part)}`,
  evidence_not_kept: (part) => `Some evidence could not be kept${because(part)}`,
  git_branch_created: (part) => `Created the branch ${part("git_branch_name")}`,
  git_commit_created: (part) => `Committed ${short(part("git_commit_sha"))}`,
  git_push_completed: (part) => `Pushed ${part("git_branch_name") || "the branch"}`,
  github_pull_request_created: (part) =>
    `Opened the pull request ${part("pull_request_url")}`.trim(),
  prompt_received: (part) => `A prompt was received${by(part) && ` from ${part("by")}`}`,
  sandbox_cleanup_completed: () => "Cleaned up the sandbox",
  sandbox_cleanup_failed: (part) => `The sandbox could not be cleaned up${because(part)}`,
  sandbox_command_executed: (part) => {
    const code = part("exit_code");
    return `Ran ${part("command") || "a command"}${code === "" || code === "0" ? "" : ` (exit ${code})`}`;
  },
  sandbox_created: (part) =>
    `Prepared the sandbox${part("sandbox_type") ? ` (${part("sandbox_type")})` : ""}`,
  task_broken: (part) => `A task hit a bug of the server${because(part)}`,
  task_failed: (part) => `${task(part)} failed${because(part)}`,
  task_lost: (part) => `${task(part)} was lost and is started again`,
  task_overridden: (part) =>
    `${task(part)} was overridden${part("action") ? ` (${part("action")})` : ""}${by(part)}`,
  task_parked: (part) =>
    `${task(part)} waits${part("reason") ? ` for ${part("reason").replaceAll("_", " ")}` : ""}`,
  task_started: (part, { attempt }) => {
    const again = typeof attempt === "number" && attempt > 1 ? ` (attempt ${attempt})` : "";
    part("attempt");
    return `${task(part)} started${again}`;
  },
  task_succeeded: (part) => `${task(part)} succeeded`,
  task_undone: (part) => `${task(part)} was undone`,
  tests_completed: (part, { passed }) => {
    part("passed");
    return passed === true ? "The tests passed" : "The tests did not pass";
  },
  workflow_phase_completed: (part, { duration_seconds: seconds }) => {
    part("duration_seconds");
    const took = typeof seconds === "number" ? ` in ${duration(seconds * 1000)}` : "";
    return `Finished ${part("phase") || "a phase"}${took}`;
  },
  workflow_phase_started: (part) => `Began ${part("phase") || "a phase"}`,
  workflow_phase_transition: (part) => `Went from ${part("from_phase")} to ${part("to_phase")}`,
  workflow_file_unusable: (part) => `A workflow file cannot be used${because(part)}`,
};

function because(part: Part): string {
  const error = part("error");
  return error ? `: ${error}` : "";
}

export const KNOWN_EVENTS: readonly string[] = Object.keys(SENTENCES);

const TITLE_PART_CHARS = 300;

/** Null for an event that has no sentence. A field that did not fit into it stays a detail. */
export function logSentence(
  event: string,
  fields: Fields,
): { title: string; used: ReadonlySet<string> } | null {
  const sentence = Object.hasOwn(SENTENCES, event) ? SENTENCES[event] : undefined;
  if (!sentence) return null;
  const used = new Set<string>();
  const part = (name: string) => {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
    const text = asText(value);
    const told = truncate(firstLine(text), TITLE_PART_CHARS);
    if (told === text) used.add(name);
    return told;
  };
  return { title: sentence(part, fields), used };
}

/** Any value as text. */
export function asText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "[cannot be shown]";
  }
}
