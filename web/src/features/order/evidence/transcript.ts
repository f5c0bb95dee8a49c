/**
 * A transcript as blocks for reading: what the agent said and thought, each tool with its result,
 * what people and the system told it. Data of tools is anything at all: it is shown as text.
 */
import { usageOf, type Usage } from "./transcript-usage";
import { stripAnsi, truncateAnsi } from "./ansi";
import { firstLine, head, truncate } from "@/lib/text";

export interface TranscriptLike {
  cursor: number;
  kind: string;
  text: string;
  data: Record<string, unknown>;
}

interface Base {
  /** Stable while more entries arrive: from the first entry of the block. */
  id: string;
  /** Said by a helper that the agent started. */
  subagent: boolean;
}

export interface TextBlock extends Base {
  kind: "text" | "thinking" | "prompt" | "error";
  text: string;
}

export interface SystemBlock extends Base {
  kind: "system";
  text: string;
  /** Output that belongs to no message: shown small. */
  noise: boolean;
  details: [string, string][];
}

export interface ToolBlock extends Base {
  kind: "tool";
  name: string;
  /** What it was about, in one line: a command, a path. */
  summary: string;
  input: string;
  /** Null while it is at work, or if it was broken off. */
  result: { text: string; isError: boolean; exitCode: number | null } | null;
}

export interface UsageBlock extends Base {
  kind: "usage";
  usage: Usage;
}

export type Block = TextBlock | SystemBlock | ToolBlock | UsageBlock;

/** Texts in a row become one block up to this size, so that a list has rows that end. */
const MERGE_LIMIT = 64 * 1024;
const INPUT_LIMIT = 256 * 1024;
const SUMMARY_LIMIT = 160;
const SUMMARY_KEYS = [
  "command",
  "file_path",
  "path",
  "pattern",
  "query",
  "url",
  "description",
  "prompt",
  "argv",
];

export function blocksOf(entries: readonly TranscriptLike[]): Block[] {
  const blocks: Block[] = [];
  const byToolId = new Map<string, ToolBlock>();
  const unnamed: ToolBlock[] = [];
  for (const entry of entries) {
    const base = { id: `${entry.cursor}`, subagent: entry.data["subagent"] === true };
    switch (entry.kind) {
      case "text":
      case "thinking":
      case "prompt":
      case "error":
        addText(blocks, { ...base, kind: entry.kind, text: entry.text });
        break;
      case "tool_use": {
        const block = toolOf(entry, base);
        const toolId = entry.data["tool_use_id"];
        if (typeof toolId === "string") byToolId.set(toolId, block);
        else unnamed.push(block);
        blocks.push(block);
        break;
      }
      case "tool_result":
        addResult(blocks, entry, base, byToolId, unnamed);
        break;
      default:
        addSystem(blocks, entry, base);
    }
  }
  return blocks;
}

function addText(blocks: Block[], block: TextBlock): void {
  const last = blocks[blocks.length - 1];
  const joins =
    (block.kind === "text" || block.kind === "thinking") &&
    last?.kind === block.kind &&
    last.subagent === block.subagent &&
    last.text.length + block.text.length <= MERGE_LIMIT;
  if (block.text.trim() === "" && block.kind !== "error") return;
  if (joins) last.text += (last.text.endsWith("\n") ? "" : "\n") + block.text;
  else blocks.push(block);
}

function toolOf(entry: TranscriptLike, base: Base): ToolBlock {
  const given = entry.data["input"];
  return {
    ...base,
    kind: "tool",
    name: firstLine(entry.text) || "tool",
    summary: summaryOf(given),
    input: shown(given),
    result: null,
  };
}

function addResult(
  blocks: Block[],
  entry: TranscriptLike,
  base: Base,
  byToolId: Map<string, ToolBlock>,
  unnamed: ToolBlock[],
): void {
  const { tool_use_id: toolId, is_error: isError, exit_code: code } = entry.data;
  const exitCode = typeof code === "number" ? code : null;
  const failed = isError === true || (exitCode !== null && exitCode !== 0);
  const result = { text: entry.text, isError: failed, exitCode };
  const named = typeof toolId === "string" ? byToolId.get(toolId) : unnamed.pop();
  if (typeof toolId !== "string") unnamed.length = 0;
  if (named && named.result === null) {
    named.result = result;
  } else {
    // Its beginning is on an earlier page, or was lost.
    blocks.push({ ...base, kind: "tool", name: "result", summary: "", input: "", result });
  }
}

function addSystem(blocks: Block[], entry: TranscriptLike, base: Base): void {
  // For the server's own counting, many times a turn; the turn's end says the same to people.
  if ("meter" in entry.data) return;
  const usage = usageOf(entry);
  if (usage) {
    blocks.push({ ...base, kind: "usage", usage });
    return;
  }
  const noise = entry.data["noise"] === true || typeof entry.data["stream"] === "string";
  const last = blocks[blocks.length - 1];
  if (
    noise &&
    last?.kind === "system" &&
    last.noise &&
    last.text.length + entry.text.length <= MERGE_LIMIT
  ) {
    last.text += `\n${entry.text}`;
    return;
  }
  const details = noise ? [] : detailsOf(entry.data);
  blocks.push({ ...base, kind: "system", text: entry.text, noise, details });
}

function detailsOf(data: Record<string, unknown>): [string, string][] {
  return Object.entries(data)
    .filter(([name]) => name !== "subagent")
    .slice(0, 20)
    .map(([name, value]) => [name, truncate(shown(value), 2000)]);
}

function summaryOf(given: unknown): string {
  if (typeof given === "string") return brief(given);
  if (typeof given !== "object" || given === null) return "";
  const input = given as Record<string, unknown>;
  for (const name of SUMMARY_KEYS) {
    const value = Object.hasOwn(input, name) ? input[name] : undefined;
    const text = Array.isArray(value) ? value.slice(0, 50).map(String).join(" ") : value;
    if (typeof text === "string" && text.trim() !== "") {
      return brief(text);
    }
  }
  return "";
}

/** One line; without colours, which would be shown as text where they are cut. */
function brief(text: string): string {
  return truncate(stripAnsi(truncateAnsi(firstLine(text), SUMMARY_LIMIT)), SUMMARY_LIMIT);
}

/** Any value as text for people; never throws, never without bound. */
export function shown(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return truncate(value, INPUT_LIMIT);
  try {
    return truncate(JSON.stringify(value, null, 2) ?? "", INPUT_LIMIT);
  } catch {
    return "[cannot be shown]";
  }
}

export interface Preview {
  text: string;
  /** How many characters are left out; 0 when all is shown. */
  hiddenChars: number;
  hiddenLines: number;
}

/** The beginning of a long text, for "show all". */
export function preview(text: string, { maxLines = 20, maxChars = 4000 } = {}): Preview {
  let end = 0;
  for (let line = 0; line < maxLines && end < text.length; line++) {
    const found = text.indexOf("\n", end);
    end = found < 0 ? text.length : found + 1;
    if (end >= maxChars) break;
  }
  const kept = head(text, Math.min(end, maxChars));
  const cut = kept.length;
  if (cut >= text.length) return { text, hiddenChars: 0, hiddenLines: 0 };
  let hiddenLines = 1;
  for (let at = text.indexOf("\n", cut); at >= 0; at = text.indexOf("\n", at + 1)) {
    if (at < text.length - 1) hiddenLines++;
  }
  const shownEnd = kept.endsWith("\n") ? cut - 1 : cut;
  return { text: kept.slice(0, shownEnd), hiddenChars: text.length - cut, hiddenLines };
}
