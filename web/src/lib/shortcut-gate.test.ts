import { describe, expect, it } from "vitest";

import type { KeyPress } from "./keys";
import { createGate, isTyping, type Moment } from "./shortcut-gate";

const INPUT = { tagName: "INPUT", type: "text" };

const key = (name: string, more: Partial<KeyPress> = {}): KeyPress => ({
  key: name,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...more,
});

/** What the gate says of each key; `at` in milliseconds. */
function admitted(...presses: (Partial<Moment> & { key: string; target?: unknown })[]): boolean[] {
  const gate = createGate();
  return presses.map(({ key: name, target, at = 0, loading = false, layered = false }) =>
    gate.admits(key(name, { target }), { at, loading, layered }),
  );
}

describe("the gate", () => {
  it("lets nothing through while something loads, in a field, or behind a layer", () => {
    expect(admitted({ key: "p", loading: true })).toEqual([false]);
    expect(admitted({ key: "p", layered: true })).toEqual([false]);
    expect(admitted({ key: "p", target: INPUT })).toEqual([false]);
    expect(admitted({ key: "Escape", loading: true })).toEqual([false]);
    expect(admitted({ key: "p" })).toEqual([true]);
  });

  it("takes what follows a typed key as typed, until the hands rest", () => {
    for (const where of [{ loading: true }, { layered: true }, { target: INPUT }]) {
      expect(
        admitted(
          { key: "p", at: 0, ...where },
          { key: "a", at: 120 },
          { key: "y", at: 1_000 },
          { key: "r", at: 2_000 },
        ),
      ).toEqual([false, false, false, true]);
    }
  });

  it("keeps that through held modifiers and mistakes, and ends it with a key that writes nothing", () => {
    const typed = { key: "P", at: 0, target: INPUT };
    expect(
      admitted(typed, { key: "Shift", at: 50 }, { key: "Backspace", at: 60 }, { key: "r", at: 90 }),
    ).toEqual([false, true, false, false]);
    for (const end of ["Enter", "Escape", "Tab", "ArrowDown"]) {
      expect(admitted(typed, { key: end, at: 50 }, { key: "r", at: 90 }).at(-1)).toBe(true);
    }
  });

  it("lets quick sequences through", () => {
    expect(admitted({ key: "g", at: 0 }, { key: "i", at: 5 }, { key: "j", at: 10 })).toEqual([
      true,
      true,
      true,
    ]);
  });
});

describe("isTyping", () => {
  it("knows where keys write", () => {
    for (const target of [
      INPUT,
      { tagName: "textarea" },
      { tagName: "SELECT" },
      { tagName: "DIV", isContentEditable: true },
      { tagName: "DIV", getAttribute: () => "textbox" },
    ]) {
      expect(isTyping(target)).toBe(true);
    }
    for (const target of [
      null,
      undefined,
      5,
      {},
      { tagName: "DIV" },
      { tagName: "INPUT", type: "checkbox" },
      { tagName: 7 },
    ]) {
      expect(isTyping(target)).toBe(false);
    }
  });
});
