import { describe, expect, it } from "vitest";

import { seeded } from "@/lib/test-random";
import { blocksOf, preview, shown, type TranscriptLike } from "./transcript";

let cursor = 0;
const entry = (kind: string, text = "", data: Record<string, unknown> = {}): TranscriptLike => ({
  cursor: (cursor += 10),
  kind,
  text,
  data,
});

describe("blocksOf", () => {
  it("merges what is said in a row, and keeps kinds apart", () => {
    const blocks = blocksOf([
      entry("prompt", "Do it"),
      entry("text", "One"),
      entry("text", "Two"),
      entry("thinking", "Hm"),
      entry("text", "Three"),
      entry("text", "aside", { subagent: true }),
      entry("text", " \n"),
    ]);
    expect(blocks.map((one) => [one.kind, "text" in one ? one.text : ""])).toEqual([
      ["prompt", "Do it"],
      ["text", "One\nTwo"],
      ["thinking", "Hm"],
      ["text", "Three"],
      ["text", "aside"],
    ]);
    expect(blocks[4]?.subagent).toBe(true);
  });

  it("does not merge without end", () => {
    const blocks = blocksOf([entry("text", "x".repeat(60_000)), entry("text", "y".repeat(10_000))]);
    expect(blocks).toHaveLength(2);
  });

  it("pairs tools with their results by id, in any order", () => {
    const blocks = blocksOf([
      entry("tool_use", "Bash", { tool_use_id: "a", input: { command: "make test\n# more" } }),
      entry("tool_use", "Read", { tool_use_id: "b", input: { file_path: "src/x.py" } }),
      entry("tool_result", "content", { tool_use_id: "b", is_error: false }),
      entry("tool_result", "boom", { tool_use_id: "a", is_error: true }),
    ]);
    expect(blocks).toMatchObject([
      { kind: "tool", name: "Bash", summary: "make test", result: { text: "boom", isError: true } },
      {
        kind: "tool",
        name: "Read",
        summary: "src/x.py",
        result: { text: "content", isError: false },
      },
    ]);
  });

  it("pairs tools without ids with what follows", () => {
    const blocks = blocksOf([
      entry("tool_use", "Write", { input: { path: "plan.md", content: "# Plan" } }),
      entry("tool_use", "Run", { input: { argv: ["make", "test"] } }),
      entry("tool_result", "ok", { exit_code: 2 }),
      entry("tool_result", "stray"),
    ]);
    expect(blocks).toMatchObject([
      { name: "Write", summary: "plan.md", result: null },
      { name: "Run", summary: "make test", result: { text: "ok", isError: true, exitCode: 2 } },
      { name: "result", result: { text: "stray", isError: false } },
    ]);
  });

  it("keeps a result whose beginning is missing, and a second one for the same tool", () => {
    const blocks = blocksOf([
      entry("tool_result", "early", { tool_use_id: "x" }),
      entry("tool_use", "T", { tool_use_id: "y" }),
      entry("tool_result", "one", { tool_use_id: "y" }),
      entry("tool_result", "two", { tool_use_id: "y" }),
    ]);
    expect(blocks.map((one) => one.kind === "tool" && one.result?.text)).toEqual([
      "early",
      "one",
      "two",
    ]);
  });

  it("shows usage, the system and noise", () => {
    const blocks = blocksOf([
      entry("system", "session 1", { model: "m", tools: ["Bash"] }),
      entry("system", "noise 1", { noise: true }),
      entry("system", "err", { stream: "stderr" }),
      entry("system", "end of turn", { subtype: "success", num_turns: 3, total_cost_usd: 0.12 }),
      entry("system", "usage", {
        usage: { input_tokens: 10, output_tokens: 5, cost_usd: 0.1, turns: 1 },
      }),
      entry("system", "used so far", { meter: { usage: { cost_usd: 0.05 }, attempt: 1 } }),
      entry("error", "", {}),
      entry("brand_new_kind", "hello"),
    ]);
    expect(blocks).toMatchObject([
      {
        kind: "system",
        text: "session 1",
        noise: false,
        details: [
          ["model", "m"],
          ["tools", '[\n  "Bash"\n]'],
        ],
      },
      { kind: "system", text: "noise 1\nerr", noise: true },
      { kind: "usage", usage: { turns: 3, costUsd: 0.12, inputTokens: null } },
      { kind: "usage", usage: { inputTokens: 10, outputTokens: 5, turns: 1, costUsd: 0.1 } },
      { kind: "error" },
      { kind: "system", text: "hello" },
    ]);
  });

  it("keeps ids while more entries arrive, and they are unique", () => {
    const random = seeded(13);
    for (let round = 0; round < 200; round++) {
      const entries = Array.from({ length: 30 }, () =>
        entry(
          random.pick([
            "text",
            "thinking",
            "tool_use",
            "tool_result",
            "system",
            "error",
            "prompt",
            "?",
          ]),
          random.pick(["", "x", "\u0000\ud83d", "y\n"]),
          random.pick<Record<string, unknown>>([
            {},
            { tool_use_id: "a" },
            { tool_use_id: 5, input: null },
            { input: { command: 7 } },
            { noise: true },
            { usage: [] },
            { num_turns: "x" },
            { input: { __proto__: null, path: ["a", {}] } },
          ]),
        ),
      );
      const all = blocksOf(entries);
      const some = blocksOf(entries.slice(0, 20));
      expect(new Set(all.map((one) => one.id)).size).toBe(all.length);
      expect(all.slice(0, some.length).map((one) => one.id)).toEqual(some.map((one) => one.id));
    }
  });
});

describe("shown", () => {
  it("shows anything, with bounds", () => {
    expect(shown(null)).toBe("");
    expect(shown({ a: [1] })).toBe('{\n  "a": [\n    1\n  ]\n}');
    expect(shown("x".repeat(1_000_000)).length).toBeLessThanOrEqual(256 * 1024);
    const ring: Record<string, unknown> = {};
    ring["self"] = ring;
    expect(shown(ring)).toBe("[cannot be shown]");
    expect(shown(5n)).toBe("[cannot be shown]");
    expect(shown(() => 1)).toBe("");
  });
});

describe("preview", () => {
  it("leaves short texts whole", () => {
    expect(preview("a\nb")).toEqual({ text: "a\nb", hiddenChars: 0, hiddenLines: 0 });
    expect(preview("")).toEqual({ text: "", hiddenChars: 0, hiddenLines: 0 });
  });

  it("cuts by lines and by characters", () => {
    const lines = preview("1\n2\n3\n4\n5", { maxLines: 2 });
    expect(lines).toEqual({ text: "1\n2", hiddenChars: 5, hiddenLines: 3 });
    const long = preview("x".repeat(10_000), { maxChars: 100 });
    expect(long.text.length).toBeLessThanOrEqual(101);
    expect(long.hiddenChars).toBe(9900);
    expect(preview("\n".repeat(1_000_000)).text).toBe("\n".repeat(19));
    expect(preview("👩👩", { maxChars: 3 })).toEqual({
      text: "👩",
      hiddenChars: 2,
      hiddenLines: 1,
    });
  });
});
