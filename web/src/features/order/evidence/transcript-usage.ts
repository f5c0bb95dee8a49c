/** What a turn has cost, from the entries that say so. */

export interface Usage {
  inputTokens: number | null;
  outputTokens: number | null;
  turns: number | null;
  costUsd: number | null;
}

interface Entry {
  text: string;
  data: Record<string, unknown>;
}

export function usageOf(entry: Entry): Usage | null {
  const given = entry.data["usage"];
  const source = isRecord(given) ? given : "num_turns" in entry.data ? entry.data : null;
  if (!source) return null;
  const usage = {
    inputTokens: number(source["input_tokens"]),
    outputTokens: number(source["output_tokens"]),
    turns: number(source["turns"] ?? source["num_turns"]),
    costUsd: number(source["cost_usd"] ?? source["total_cost_usd"]),
  };
  return Object.values(usage).some((one) => one !== null) ? usage : null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function number(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}
