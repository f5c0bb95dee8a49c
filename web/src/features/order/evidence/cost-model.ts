/** What agents have cost, from what they themselves say at the end of each turn. */
import type { TranscriptLike } from "./transcript";
import type { CostCertainty } from "@/lib/money";
import { usageOf } from "./transcript-usage";

export interface Spent {
  costUsd: number | null;
  inputTokens: number | null;
  outputTokens: number | null;
  cacheTokens: number | null;
  /** Turns of the model. */
  turns: number | null;
}

export interface TaskCost extends Spent {
  task: string;
  models: string[];
  scripted: boolean;
  certainty: CostCertainty;
  /** What each run of the agent used: the first, and one for each prompt or attempt after it. */
  runs: Spent[];
}

export const NOTHING: Spent = {
  costUsd: null,
  inputTokens: null,
  outputTokens: null,
  cacheTokens: null,
  turns: null,
};

/** What the order's books say of a task; they know also what no transcript tells. */
export interface Booked {
  cost_usd: number;
  cost_certainty: CostCertainty;
  input_tokens: number;
  output_tokens: number;
  turns: number;
  model: string | null;
}

export function taskCost(
  task: string,
  entries: readonly TranscriptLike[],
  booked: Booked | null = null,
): TaskCost {
  const models: string[] = [];
  const runs: Spent[] = [];
  let scripted = false;
  /** What the session had cost before this run; a new session begins at nothing. */
  let before = 0;
  for (const { data, text } of entries) {
    if (data["scripted"] === true) scripted = true;
    const model = data["model"];
    if (typeof model === "string" && model !== "" && !models.includes(model)) models.push(model);
    const run = runOf({ text, data });
    if (!run) continue;
    const total = numberOf(data["total_cost_usd"]);
    if (total !== null) {
      run.costUsd = total >= before ? total - before : total;
      before = total;
    }
    runs.push(run);
  }
  const told = runs.reduce<Spent>(added, NOTHING);
  if (!booked) return { task, models, scripted, certainty: "exact", runs, ...told };
  const { model } = booked;
  return {
    task,
    models: model !== null && !models.includes(model) ? [...models, model] : models,
    scripted,
    certainty: booked.cost_certainty,
    runs,
    costUsd: booked.cost_usd,
    inputTokens: booked.input_tokens,
    outputTokens: booked.output_tokens,
    cacheTokens: told.cacheTokens,
    turns: booked.turns,
  };
}

function runOf(entry: Pick<TranscriptLike, "text" | "data">): Spent | null {
  const { data } = entry;
  const usage = usageOf(entry);
  const costUsd = usage?.costUsd ?? numberOf(data["cost_usd"]);
  if (!usage && costUsd === null) return null;
  return {
    costUsd,
    inputTokens: usage?.inputTokens ?? null,
    outputTokens: usage?.outputTokens ?? null,
    cacheTokens: cacheOf(data["usage"]),
    turns: usage?.turns ?? null,
  };
}

function cacheOf(usage: unknown): number | null {
  if (typeof usage !== "object" || usage === null) return null;
  const given = usage as Record<string, unknown>;
  const parts = [given["cache_creation_input_tokens"], given["cache_read_input_tokens"]];
  return parts.map(numberOf).reduce(sum, null);
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;
}

/** Nothing known plus nothing known is nothing known, not zero. */
function sum(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : a + b;
}

export function added(a: Spent, b: Spent): Spent {
  return {
    costUsd: sum(a.costUsd, b.costUsd),
    inputTokens: sum(a.inputTokens, b.inputTokens),
    outputTokens: sum(a.outputTokens, b.outputTokens),
    cacheTokens: sum(a.cacheTokens, b.cacheTokens),
    turns: sum(a.turns, b.turns),
  };
}

export interface CostSummary {
  tasks: TaskCost[];
  told: Spent;
  /** What the order's books say and no transcript does: turns that were broken off. */
  unexplainedUsd: number;
  /** The longest bar. */
  mostUsd: number;
  /** Only agents that follow a script: nothing was asked of a model. */
  onlyScripted: boolean;
}

/** A hundredth of a cent; less is rounding. */
const NOTICEABLE_USD = 0.0001;

export function costSummary(
  tasks: TaskCost[],
  order: { cost_usd: number; agent: Record<string, unknown> },
): CostSummary {
  const told = tasks.reduce<Spent>(added, NOTHING);
  const missing = order.cost_usd - (told.costUsd ?? 0);
  const unexplainedUsd = missing > NOTICEABLE_USD ? missing : 0;
  const all = tasks.length > 0 && tasks.every((task) => task.scripted);
  return {
    tasks,
    told,
    unexplainedUsd,
    mostUsd: Math.max(unexplainedUsd, ...tasks.map((task) => task.costUsd ?? 0)),
    onlyScripted: all || (tasks.length === 0 && order.agent["name"] === "scripted"),
  };
}

/** Part of the longest bar, in percent; something that cost anything is seen. */
export function barPercent(costUsd: number | null, mostUsd: number): number {
  if (costUsd === null || costUsd <= 0 || mostUsd <= 0) return 0;
  return Math.max(1, Math.min(100, (costUsd / mostUsd) * 100));
}
