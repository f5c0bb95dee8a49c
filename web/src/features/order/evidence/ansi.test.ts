import { describe, expect, it } from "vitest";

import { MAX_SEGMENTS, parseAnsi, stripAnsi, truncateAnsi } from "./ansi";
import { seeded } from "@/lib/test-random";

const E = "\u001b";
const texts = (line: string) => parseAnsi(line).map((one) => one.text);
const toned = (line: string) => parseAnsi(line).map((one) => [one.text, one.tone]);

describe("parseAnsi", () => {
  it("gives plain text as one segment", () => {
    expect(parseAnsi("hello")).toEqual([
      { text: "hello", bold: false, dim: false, italic: false, underline: false, inverse: false },
    ]);
    expect(parseAnsi("")).toEqual([]);
  });

  it("reads the sixteen colours", () => {
    expect(toned(`${E}[31mred${E}[0m plain ${E}[92mgreen${E}[39m!`)).toEqual([
      ["red", "red"],
      [" plain ", undefined],
      ["green", "bright-green"],
      ["!", undefined],
    ]);
    expect(
      toned(`${E}[38;5;9ma${E}[38;5;200mb${E}[38:5:4mc${E}[38;2;1;2;3md${E}[48;5;1me`),
    ).toEqual([
      ["a", "bright-red"],
      ["b", undefined],
      ["c", "blue"],
      ["de", undefined],
    ]);
  });

  it("reads weights and takes them back", () => {
    const [bold, more, rest] = parseAnsi(`${E}[1;3;4;7mx${E}[22;23my${E}[24;27mz`);
    expect(bold).toMatchObject({ bold: true, italic: true, underline: true, inverse: true });
    expect(more).toMatchObject({ bold: false, italic: false, underline: true, inverse: true });
    expect(rest).toMatchObject({ text: "z", underline: false, inverse: false });
    expect(parseAnsi(`${E}[2mx`)[0]?.dim).toBe(true);
    expect(parseAnsi(`${E}[1ma${E}[mb`)[1]?.bold).toBe(false);
  });

  it("does not apply the arguments of a colour as codes", () => {
    expect(parseAnsi(`${E}[38;2;1;4;7mx`)[0]).toMatchObject({ bold: false, underline: false });
    expect(parseAnsi(`${E}[48;5;1mx`)[0]?.bold).toBe(false);
  });

  it("drops everything else", () => {
    expect(texts(`a${E}[2Jb${E}[10;20Hc${E}[?25ld`)).toEqual(["abcd"]);
    expect(texts(`${E}]0;title${"\u0007"}x`)).toEqual(["x"]);
    expect(texts(`${E}]8;;javascript:alert(1)${E}\\link${E}]8;;${E}\\!`)).toEqual(["link!"]);
    expect(texts(`${E}Pq#0;2;0;0;0${E}\\x${E}_apc${E}\\y${E}^pm${"\u009c"}z`)).toEqual(["xyz"]);
    expect(texts(`${E}(Ba${E}=b${E}7c`)).toEqual(["abc"]);
    expect(texts("\u009b31ma\u009d0;t\u0007b")).toEqual(["ab"]);
  });

  it("survives what is cut off or broken", () => {
    for (const end of [
      E,
      `${E}[`,
      `${E}[31`,
      `${E}]0;never ends`,
      `${E}P${"x".repeat(1000)}`,
      `${E}(`,
    ]) {
      expect(texts(`a${end}`)).toEqual(["a"]);
    }
    expect(texts(`a${E}${E}[31mb`)).toEqual(["a", "b"]);
    expect(texts(`a${E}[31\u0001mb`)).toEqual(["amb"]);
    expect(parseAnsi(`${E}[${"1;".repeat(500)}mx`)[0]?.bold).toBe(false);
    expect(parseAnsi(`${E}[>4;1mx`)[0]?.underline).toBe(false);
    expect(parseAnsi(`${E}[99999999999999999999mx`)).toHaveLength(1);
  });

  it("shows hostile characters of the text", () => {
    expect(texts("a\u202eb\u0000c")).toEqual(["a⟨U+202E⟩bc"]);
  });

  it("bounds the segments and keeps the text", () => {
    const line = Array.from({ length: 5000 }, (_, at) => `${E}[3${at % 8}mx`).join("");
    const segments = parseAnsi(line);
    expect(segments.length).toBeLessThanOrEqual(MAX_SEGMENTS);
    expect(segments.map((one) => one.text).join("")).toBe("x".repeat(5000));
  });

  it("ends for long lines of every bad kind", () => {
    const size = 1_000_000;
    for (const piece of [
      "x",
      E,
      `${E}[`,
      `${E}[1m`,
      `${E}]`,
      "\u0090",
      `${E}[1;`,
      "\u202e",
      `${E}[31mx`,
    ]) {
      const line = piece.repeat(Math.ceil(size / piece.length));
      expect(parseAnsi(line).length).toBeLessThanOrEqual(MAX_SEGMENTS);
    }
  });

  it("agrees with stripAnsi, and leaves no control character, whatever comes", () => {
    const random = seeded(7);
    const pieces = [
      E,
      "[",
      "]",
      "m",
      "31",
      ";",
      ":",
      "0",
      "x",
      "\u0007",
      "\\",
      "P",
      "\u009b",
      "\u009c",
      "(",
      "é",
      "\n",
      "38;5;",
    ];
    for (let round = 0; round < 2000; round++) {
      const line = random.text(pieces, 30);
      const joined = texts(line).join("");
      expect(joined).toBe(stripAnsi(line));
      expect(joined.includes(E)).toBe(false);
    }
  });
});

describe("truncateAnsi", () => {
  const RED = "\u001b[31m";

  it("counts what is seen, and cuts no sequence in two", () => {
    expect(truncateAnsi(`${RED}abc`, 3)).toBe(`${RED}abc`);
    expect(truncateAnsi(`${RED}abcd`, 3)).toBe(`${RED}ab…`);
    expect(stripAnsi(truncateAnsi(`ab${RED}cd`, 3))).toBe("ab…");
    expect(truncateAnsi(`abc${RED}`, 3)).toBe(`abc${RED}`);
    for (let max = 1; max < 12; max++) {
      expect(stripAnsi(truncateAnsi(`x${RED}y`.repeat(6), max))).toMatch(/^[xy]*…?$/);
    }
  });

  it("is bounded also where nothing is seen", () => {
    expect(truncateAnsi(RED.repeat(10_000) + "end", 10).length).toBeLessThan(200);
  });

  it("leaves no half of a character", () => {
    expect(truncateAnsi("a😀😀😀😀", 3)).toBe("a…");
  });
});
