import { describe, expect, it } from "vitest";

import { seeded } from "./test-random";
import { clean, firstLine, plural, safeHref, truncate, truncateMiddle } from "./text";

const HOSTILE = [
  "a",
  "é",
  "漢",
  "\n",
  "\t",
  "\r",
  "\0",
  "\u001b",
  "\u007f",
  "\u009b",
  "\u202e",
  "\u2066",
  "\u200b",
  "\u200d",
  "\ufeff",
  "\ud83d\udc69",
  "\ud83d",
  "\udc69",
  "\u2764\ufe0f",
  "⟨U+202E⟩",
  "\u{e0041}",
];

describe("clean", () => {
  it("leaves plain text alone", () => {
    const text = "Fix the parser\n\tand grüße 漢字 👍🏽";
    expect(clean(text)).toBe(text);
  });

  it("removes control characters but newline and tab", () => {
    expect(clean("a\0b\u001b[31mc\r\n\td\u007f\u009be")).toBe("ab[31mc\n\tde");
  });

  it("shows what turns or hides text", () => {
    expect(clean("abc\u202etxt.exe")).toBe("abc⟨U+202E⟩txt.exe");
    expect(clean("pass\u200bword\ufeff")).toBe("pass⟨U+200B⟩word⟨U+FEFF⟩");
    expect(clean("\u2066x\u2069")).toBe("⟨U+2066⟩x⟨U+2069⟩");
    expect(clean("hi\u{e0041}")).toBe("hi⟨U+E0041⟩");
  });

  it("keeps joined emoji whole, and shows a joiner elsewhere", () => {
    expect(clean("👩‍👩‍👧 ❤️‍🔥")).toBe("👩‍👩‍👧 ❤️‍🔥");
    expect(clean("a\u200db")).toBe("a⟨U+200D⟩b");
  });

  it("replaces halves of characters", () => {
    expect(clean("\ud83d")).toBe("\ufffd");
    expect(clean("a\udc69b\ud83d")).toBe("a\ufffdb\ufffd");
  });

  it("is well formed and stable whatever comes", () => {
    const random = seeded(1);
    for (let round = 0; round < 500; round++) {
      const text = random.text(HOSTILE, 40);
      const once = clean(text);
      expect(clean(once)).toBe(once);
      expect(() => encodeURIComponent(once)).not.toThrow();
      for (const hidden of ["\0", "\u001b", "\r", "\u202e", "\u2066", "\u200b", "\ufeff"]) {
        expect(once.includes(hidden)).toBe(false);
      }
    }
  });
});

describe("truncate", () => {
  it("cuts at the end or in the middle", () => {
    expect(truncate("hello", 5)).toBe("hello");
    expect(truncate("hello!", 5)).toBe("hell…");
    expect(truncateMiddle("src/agent/very/long/file.ts", 11)).toBe("src/a…le.ts");
    expect(truncate("abc", 0)).toBe("");
    expect(truncateMiddle("abc", 1)).toBe("…");
  });

  it("never exceeds the limit nor splits a character", () => {
    const random = seeded(2);
    for (let round = 0; round < 300; round++) {
      const text = random.text(["👩", "a", "漢"], 30);
      const max = random.int(0, 20);
      for (const cut of [truncate(text, max), truncateMiddle(text, max)]) {
        expect(cut.length).toBeLessThanOrEqual(Math.max(max, 0));
        expect(() => encodeURIComponent(cut)).not.toThrow();
      }
    }
  });
});

describe("plural, firstLine", () => {
  it("counts", () => {
    expect(plural(1, "file")).toBe("1 file");
    expect(plural(0, "file")).toBe("0 files");
    expect(plural(12345, "try", "tries")).toBe("12,345 tries");
  });

  it("finds the first line that says something", () => {
    expect(firstLine("\n  \n  Fix it \nmore")).toBe("Fix it");
    expect(firstLine("one")).toBe("one");
    expect(firstLine("")).toBe("");
    expect(firstLine("\n\n")).toBe("");
  });
});

describe("safeHref", () => {
  it("refuses what is too long to be one", () => {
    expect(safeHref(`https://x/${"a".repeat(9000)}`)).toBeNull();
  });

  it("allows web addresses", () => {
    expect(safeHref("https://example.com/a?b#c")).toBe("https://example.com/a?b#c");
    expect(safeHref("HTTP://example.com")).toBe("http://example.com/");
  });

  it.each([
    null,
    undefined,
    "",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    " https://example.com",
    "java\nscript:alert(1)",
    "data:text/html,x",
    "vbscript:x",
    "file:///etc/passwd",
    "//evil.com",
    "/orders",
    "https:evil.com",
    "https://",
    "http://[",
    "https://a b",
    "https://github.com@evil.com/",
    "https://user:pw@evil.com",
    "https://evil.com\\@github.com",
    "https://x\u202e.com",
    "blob:https://x/y",
  ])("refuses %j", (url) => {
    expect(safeHref(url)).toBeNull();
  });
});
