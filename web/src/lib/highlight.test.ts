import { describe, expect, it } from "vitest";

import { highlightYaml, markMatches } from "./highlight";
import { seeded } from "./test-random";

const kinds = (source: string) =>
  highlightYaml(source).map((line) =>
    line.filter((one) => one.text.trim() !== "").map((one) => `${one.kind}:${one.text}`),
  );
const joined = (source: string) =>
  highlightYaml(source)
    .map((line) => line.map((one) => one.text).join(""))
    .join("\n");

describe("highlightYaml", () => {
  it("reads a workflow", () => {
    expect(
      kinds(
        "name: fix # why\ntasks:\n  plan:\n    uses: agent.command\n    with: {command: plan, tries: 3}",
      ),
    ).toEqual([
      ["key:name", "punctuation::", "string:fix", "comment:# why"],
      ["key:tasks", "punctuation::"],
      ["key:plan", "punctuation::"],
      ["key:uses", "punctuation::", "string:agent.command"],
      [
        "key:with",
        "punctuation::",
        "punctuation:{",
        "key:command",
        "punctuation::",
        "string:plan",
        "punctuation:,",
        "key:tries",
        "punctuation::",
        "number:3",
        "punctuation:}",
      ],
    ]);
  });

  it("reads lists, quotes and numbers", () => {
    expect(kinds(`- "a: # b"\n- 'it''s': 1.5e3\n- true\n- http://x.y/#z\n- a#b`)).toEqual([
      ["punctuation:-", `string:"a: # b"`],
      ["punctuation:-", "key:'it''s'", "punctuation::", "number:1.5e3"],
      ["punctuation:-", "number:true"],
      ["punctuation:-", "string:http://x.y/#z"],
      ["punctuation:-", "string:a#b"],
    ]);
  });

  it("reads block scalars up to where they end", () => {
    expect(kinds("- run: |\n    a: b # no comment\n\n    c\n  next: >-\n   x\nlast: 1")).toEqual([
      ["punctuation:-", "key:run", "punctuation::", "punctuation:|"],
      ["string:    a: b # no comment"],
      [],
      ["string:    c"],
      ["key:next", "punctuation::", "punctuation:>-"],
      ["string:   x"],
      ["key:last", "punctuation::", "number:1"],
    ]);
  });

  it("reads quotes and flows over several lines", () => {
    expect(kinds('a: "one\n  two" # c\nb: [1,\n  x]')).toEqual([
      ["key:a", "punctuation::", 'string:"one'],
      ['string:  two"', "comment:# c"],
      ["key:b", "punctuation::", "punctuation:[", "number:1", "punctuation:,"],
      ["string:x", "punctuation:]"],
    ]);
    expect(kinds("---\n%YAML 1.2")).toEqual([["punctuation:---"], ["comment:%YAML 1.2"]]);
  });

  it("loses nothing, whatever comes", () => {
    const random = seeded(15);
    const pieces = [
      "a",
      ": ",
      "-",
      " ",
      "\n",
      '"',
      "'",
      "\\",
      "#",
      "{",
      "}",
      "[",
      "]",
      ",",
      "|",
      ">",
      "\t",
      "\r",
      "12",
      "é",
      "\ud83d",
      "?",
      "%",
    ];
    for (let round = 0; round < 3000; round++) {
      const source = random.text(pieces, 40);
      expect(joined(source)).toBe(source);
    }
    expect(joined("")).toBe("");
  });

  it("ends for large sources of every bad kind", () => {
    for (const piece of ["a: ", "{", "'", '"\\', "- ", "#", "a:\n", "|\n", ": ", "] "]) {
      const source = piece.repeat(100_000);
      expect(joined(source)).toBe(source);
      const lines = `${piece.repeat(6000)}\n`.repeat(10);
      expect(joined(lines)).toBe(lines);
    }
  });
});

describe("markMatches", () => {
  const marked = (text: string, query: string) =>
    markMatches(text, query)
      .map((one) => (one.match ? `[${one.text}]` : one.text))
      .join("");

  it("marks without regard to case", () => {
    expect(marked("Fix the fixture", "FIX")).toBe("[Fix] the [fix]ture");
    expect(marked("abc", "")).toBe("abc");
    expect(marked("abc", "x")).toBe("abc");
    expect(marked("Straße İstanbul", "i")).toBe("Straße İstanbul");
    expect(markMatches("", "x")).toEqual([]);
  });

  it("takes the query as text", () => {
    expect(marked("a.b (c) [d] $1 \\ /", ".")).toBe("a[.]b (c) [d] $1 \\ /");
    for (const query of [
      "(",
      "[",
      "*",
      "\\",
      "$",
      "^",
      "|",
      "{1}",
      "/",
      "+",
      "?",
      "-",
      "\ud83d",
      "(a+)+$",
    ]) {
      expect(() => markMatches(`x${query}y`, query)).not.toThrow();
      expect(marked(`x ${query} y`, query)).toBe(`x [${query}] y`);
    }
  });

  it("is bounded and keeps the text", () => {
    const text = "a".repeat(100_000);
    const pieces = markMatches(text, "a");
    expect(pieces.length).toBeLessThanOrEqual(1001);
    expect(pieces.map((one) => one.text).join("")).toBe(text);
    expect(markMatches("abc", "x".repeat(5000))).toHaveLength(1);
  });
});
