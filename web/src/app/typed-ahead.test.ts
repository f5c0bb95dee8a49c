import { expect, it } from "vitest";

import { normalise, type KeyPress } from "@/lib/keys";
import { textForPalette } from "./typed-ahead";

/** `ctrl+k`, `a`, `Escape`… as they would be pressed. */
function presses(...keys: string[]): KeyPress[] {
  return keys.map((name) => {
    const parts = name.length === 1 ? [name] : normalise(name, false).split("+");
    return {
      key: name.length === 1 ? name : (parts.at(-1) ?? ""),
      ctrlKey: parts.includes("ctrl"),
      metaKey: parts.includes("meta"),
      altKey: false,
      shiftKey: false,
    };
  });
}

it("is the text after the palette's keys", () => {
  expect(textForPalette(presses("ctrl+k", "p", "a", " ", "y"), false)).toBe("pa y");
  expect(textForPalette(presses("x", "p", "ctrl+k", "r"), false)).toBe("r");
  expect(textForPalette(presses("meta+k", "r"), true)).toBe("r");
  expect(textForPalette(presses("ctrl+k"), false)).toBe("");
});

it("is nothing without them, and after they were taken back", () => {
  expect(textForPalette(presses("p", "a", "y"), false)).toBeNull();
  expect(textForPalette(presses("ctrl+k", "p", "ctrl+k", "y"), false)).toBeNull();
  expect(textForPalette([...presses("ctrl+k"), { ...key("Escape") }], false)).toBeNull();
});

it("leaves out what writes nothing", () => {
  const typed = [
    ...presses("ctrl+k", "p", "q"),
    key("Backspace"),
    key("Shift"),
    key("Enter"),
    key("ArrowDown"),
    ...presses("ctrl+c", "A"),
  ];
  expect(textForPalette(typed, false)).toBe("pA");
});

it("asks once for a key that is held", () => {
  const [held] = presses("ctrl+k");
  expect(textForPalette([...presses("ctrl+k"), { ...held!, repeat: true }], false)).toBe("");
});

function key(name: string): KeyPress {
  return { key: name, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };
}
