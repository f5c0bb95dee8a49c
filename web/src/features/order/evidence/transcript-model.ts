/** Which transcript to show, and where in it something is found. */
import type { Task } from "@/api/types";
import type { Block } from "./transcript";

export interface TranscriptChoice {
  /** The task's path, as the transcript is named. */
  name: string;
  isRunning: boolean;
  state: Task["state"] | null;
}

/** Those that exist, and those of agents that have only just begun, in reading order. */
export function transcriptChoices(
  names: readonly string[],
  tasks: readonly Task[],
): TranscriptChoice[] {
  const byPath = new Map(tasks.map((task) => [task.path, task]));
  const begun = tasks.filter((task) => isAgent(task) && task.started_at !== null);
  const known = new Set(names);
  const missing = begun.filter((task) => task.state === "running" && !known.has(task.path));
  return [...names, ...missing.map((task) => task.path)].map((name) => {
    const task = byPath.get(name);
    return { name, isRunning: task?.state === "running", state: task?.state ?? null };
  });
}

export function isAgent(task: Pick<Task, "uses">): boolean {
  return task.uses?.startsWith("agent.") ?? false;
}

/** What was asked for if there is such a one, else what runs, else the latest. */
export function chosenTranscript(
  choices: readonly TranscriptChoice[],
  wanted: string | null | undefined,
): TranscriptChoice | null {
  return (
    choices.find((choice) => choice.name === wanted) ??
    choices.find((choice) => choice.isRunning) ??
    choices.at(-1) ??
    null
  );
}

export function blockText(block: Block): string {
  switch (block.kind) {
    case "tool":
      return [block.name, block.input, block.result?.text ?? ""].join("\n");
    case "usage":
      return "";
    case "system":
      return [block.text, ...block.details.map(([name, value]) => `${name} ${value}`)].join("\n");
    default:
      return block.text;
  }
}

/** The blocks that contain the text, in either case. */
export function findBlocks(blocks: readonly Block[], query: string): number[] {
  const wanted = query.trim().toLowerCase();
  if (wanted === "") return [];
  return blocks.flatMap((block, index) =>
    blockText(block).toLowerCase().includes(wanted) ? [index] : [],
  );
}

/** The next of the found ones, round and round. */
export function stepHit(hits: number, current: number, step: 1 | -1): number {
  return hits === 0 ? 0 : (current + step + hits) % hits;
}
