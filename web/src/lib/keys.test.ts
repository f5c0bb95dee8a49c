import { describe, expect, it } from "vitest";

import { createMatcher, keyCaps, normalise, pressed, type KeyPress } from "./keys";
import { seeded } from "./test-random";

const key = (name: string, more: Partial<KeyPress> = {}): KeyPress => ({
  key: name,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...more,
});
const SHORTCUTS = [
  { id: "inbox", keys: "g i" },
  { id: "orders", keys: "g o" },
  { id: "new", keys: "n" },
  { id: "help", keys: "?" },
  { id: "palette", keys: "mod+k", whileTyping: true },
  { id: "send", keys: "shift+Enter", whileTyping: true },
  { id: "close", keys: "esc", whileTyping: true },
] as const;
const matcher = (isMac = false) => createMatcher(SHORTCUTS, { isMac });

describe("createMatcher", () => {
  it("finds single keys and keys with modifiers", () => {
    expect(matcher().press(key("n"), 0)).toEqual({ id: "new", pending: false });
    expect(matcher().press(key("?", { shiftKey: true }), 0).id).toBe("help");
    expect(matcher().press(key("k", { ctrlKey: true }), 0).id).toBe("palette");
    expect(matcher().press(key("k", { metaKey: true }), 0).id).toBeNull();
    expect(matcher(true).press(key("k", { metaKey: true }), 0).id).toBe("palette");
    expect(matcher().press(key("Enter", { shiftKey: true }), 0).id).toBe("send");
    expect(matcher().press(key("Enter"), 0).id).toBeNull();
    expect(matcher().press(key("Escape"), 0).id).toBe("close");
    expect(matcher().press(key("n", { ctrlKey: true }), 0).id).toBeNull();
    expect(matcher().press(key("N", { shiftKey: true }), 0).id).toBeNull();
  });

  it("finds sequences, in time", () => {
    const one = matcher();
    expect(one.press(key("g"), 0)).toEqual({ id: null, pending: true });
    expect(one.press(key("i"), 500).id).toBe("inbox");
    expect(one.press(key("i"), 600).id).toBeNull();
    one.press(key("g"), 1000);
    expect(one.press(key("o"), 9000).id).toBeNull();
    one.press(key("g"), 10_000);
    one.reset();
    expect(one.press(key("i"), 10_100).id).toBeNull();
  });

  it("takes a wrong second key as a first one", () => {
    const one = matcher();
    one.press(key("g"), 0);
    expect(one.press(key("n"), 100).id).toBe("new");
    one.press(key("g"), 200);
    expect(one.press(key("g"), 300).pending).toBe(true);
    expect(one.press(key("i"), 400).id).toBe("inbox");
  });

  it("is silent for keys that are not admitted, but for those that write nothing", () => {
    expect(matcher().press(key("n"), 0, false).id).toBeNull();
    expect(matcher().press(key("g"), 0, false).pending).toBe(false);
    expect(matcher().press(key("k", { ctrlKey: true }), 0, false).id).toBe("palette");
    const one = matcher();
    one.press(key("g"), 0);
    one.press(key("x"), 100, false);
    expect(one.press(key("i"), 200).id).toBeNull();
  });

  it("ignores repeats, composing and bare modifiers", () => {
    const one = matcher();
    expect(one.press(key("n", { repeat: true }), 0).id).toBeNull();
    expect(one.press(key("n", { isComposing: true }), 0).id).toBeNull();
    one.press(key("g"), 0);
    expect(one.press(key("Shift", { shiftKey: true }), 10).pending).toBe(true);
    expect(one.press(key("i"), 20).id).toBe("inbox");
  });

  it("never fires while typing what may not, whatever comes", () => {
    const random = seeded(11);
    const one = matcher();
    for (let round = 0; round < 2000; round++) {
      const { id } = one.press(
        key(random.pick(["g", "i", "n", "?", "k", "Dead", ""]), {
          shiftKey: random.int(0, 1) === 1,
        }),
        round * 50,
        false,
      );
      expect(id).toBeNull();
    }
  });
});

describe("forms", () => {
  it("has one form for the same keys", () => {
    expect(normalise("Shift+Mod+K", false)).toBe("ctrl+shift+k");
    expect(normalise("mod+shift+k", true)).toBe("meta+shift+k");
    expect(normalise("mod+plus", false)).toBe("ctrl++");
    expect(pressed(key("K", { ctrlKey: true, shiftKey: true }))).toBe("ctrl+shift+k");
  });

  it("has caps for people", () => {
    expect(keyCaps("mod+k", true)).toEqual(["⌘", "K"]);
    expect(keyCaps("g i", false)).toEqual(["G", "then", "I"]);
  });
});
