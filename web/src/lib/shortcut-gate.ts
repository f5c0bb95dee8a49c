/**
 * The one place that decides whether a key may be a shortcut.
 *
 * A key that somebody types is not: not while anything loads, not behind a dialog or a menu, not in
 * a field. Neither is what follows it without a rest, for the place that it was meant for may come
 * late or go away meanwhile: a page that loads, a prompt whose order ends.
 */

import type { KeyPress } from "@/lib/keys";

/** Where the page stands when a key is pressed. */
export interface Moment {
  /** Of the key, as `Event.timeStamp`. */
  at: number;
  /** A page, or a part of one, is on its way. */
  loading: boolean;
  /** A dialog or a menu has the keyboard for itself. */
  layered: boolean;
}

export interface Gate {
  /** Whether any shortcut may act on this key; those that work while typing always may. */
  admits(press: KeyPress, moment: Moment): boolean;
}

/** Who types on rests for less; slow hands need a quarter of it, and a busy page delays a key. */
const REST_MS = 1_000;

export function createGate(): Gate {
  let lastAt = Number.NEGATIVE_INFINITY;
  let meantElsewhere = false;
  return {
    admits(press, { at, loading, layered }) {
      const elsewhere = loading || layered || isTyping(press.target);
      if (isModifier(press)) return !elsewhere;
      // Enter, Escape, Tab and arrows end what is typed; whoever presses one looks where they are.
      if (!writes(press)) {
        lastAt = Number.NEGATIVE_INFINITY;
        return !elsewhere;
      }
      meantElsewhere = elsewhere || (meantElsewhere && at - lastAt < REST_MS);
      lastAt = at;
      return !meantElsewhere;
    },
  };
}

function isModifier({ key }: KeyPress): boolean {
  return ["Control", "Shift", "Alt", "Meta", "CapsLock", "AltGraph"].includes(key);
}

/** Whether the key would put a sign into a field, or take one out of it. */
function writes({ key, ctrlKey, metaKey, isComposing }: KeyPress): boolean {
  if (isComposing || ["Backspace", "Dead", "Process"].includes(key)) return true;
  return [...key].length === 1 && !ctrlKey && !metaKey;
}

const FIELD_ROLES = ["textbox", "searchbox", "combobox", "listbox", "spinbutton"];
/** Inputs into which no key writes. */
const SILENT = ["button", "checkbox", "radio", "range", "submit", "reset", "file", "color"];

/** Whether keys write text there. Works on anything, also on what is no element. */
export function isTyping(target: unknown): boolean {
  if (typeof target !== "object" || target === null) return false;
  const element = target as {
    tagName?: unknown;
    isContentEditable?: unknown;
    type?: unknown;
    getAttribute?: (name: string) => string | null;
  };
  if (element.isContentEditable === true) return true;
  const tag = typeof element.tagName === "string" ? element.tagName.toLowerCase() : "";
  if (tag === "textarea" || tag === "select") return true;
  if (tag === "input") return !SILENT.includes(String(element.type).toLowerCase());
  return FIELD_ROLES.includes(element.getAttribute?.("role") ?? "");
}
