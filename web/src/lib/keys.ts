/** Shortcuts: single keys (`?`), with modifiers (`mod+k`), and sequences (`g i`). No DOM needed. */

/** What is looked at of a KeyboardEvent. */
export interface KeyPress {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
  repeat?: boolean;
  isComposing?: boolean;
  target?: unknown;
}

/** One from before the page's code was here. */
export interface EarlyPress extends KeyPress {
  /** In milliseconds, as `Event.timeStamp`. */
  at: number;
}

export interface Shortcut<Id extends string = string> {
  id: Id;
  /** `g i`, `mod+k`, `shift+enter`, `?`; `mod` is Command on a Mac and Control elsewhere. */
  keys: string;
  /** Also while somebody types: only for keys that write nothing, such as `mod+k` and `escape`. */
  whileTyping?: boolean;
}

export interface Matcher<Id extends string> {
  /** The shortcut that this key completes; `pending` while a sequence has only begun. Not `admitted`
   * are keys that somebody types: only shortcuts that work meanwhile answer them. */
  press(event: KeyPress, now: number, admitted?: boolean): { id: Id | null; pending: boolean };
  reset(): void;
}

const SEQUENCE_MS = 1200;
const ALIASES: Record<string, string> = { esc: "escape", space: " ", plus: "+", return: "enter" };
const BARE = new Set(["control", "shift", "alt", "meta", "capslock", "dead", "altgraph"]);

export const isMac = /mac|iphone|ipad/i.test(globalThis.navigator?.userAgent ?? "");

interface Wanted<Id> {
  id: Id;
  steps: string[];
  whileTyping: boolean;
}

/** `Mod+K` → "ctrl+k" or "meta+k"; the order of modifiers does not matter. */
export function normalise(step: string, isMac: boolean): string {
  const parts = step
    .toLowerCase()
    .split("+")
    .filter((part) => part !== "");
  const last = parts.pop() ?? "";
  const key = ALIASES[last] ?? last;
  const modifiers = new Set(
    parts.map((part) => (part === "mod" ? (isMac ? "meta" : "ctrl") : part)),
  );
  return join(modifiers, key);
}

function join(modifiers: ReadonlySet<string>, key: string): string {
  const held = ["ctrl", "meta", "alt", "shift"].filter((one) => modifiers.has(one));
  return [...held, key].join("+");
}

/** The same form for what was pressed. Shift is part of a sign (`?`), but not of a letter or Enter. */
export function pressed(event: KeyPress): string {
  const key = event.key.toLowerCase();
  const isSign = event.key.length === 1 && !/[a-z0-9 ]/.test(key);
  const modifiers = new Set<string>();
  if (event.ctrlKey) modifiers.add("ctrl");
  if (event.metaKey) modifiers.add("meta");
  if (event.altKey) modifiers.add("alt");
  if (event.shiftKey && !isSign) modifiers.add("shift");
  return join(modifiers, key);
}

export function createMatcher<Id extends string>(
  shortcuts: readonly Shortcut<Id>[],
  { isMac = false }: { isMac?: boolean } = {},
): Matcher<Id> {
  const wanted: Wanted<Id>[] = shortcuts.map((one) => ({
    id: one.id,
    steps: one.keys
      .split(" ")
      .filter((step) => step !== "")
      .map((step) => normalise(step, isMac)),
    whileTyping: one.whileTyping ?? false,
  }));
  let begun: string[] = [];
  let lastAt = 0;

  const find = (steps: readonly string[], admitted: boolean) => {
    const possible = wanted.filter(
      (one) => (admitted || one.whileTyping) && steps.every((step, at) => one.steps[at] === step),
    );
    const whole = possible.find((one) => one.steps.length === steps.length);
    return { id: whole?.id ?? null, pending: !whole && possible.length > 0 };
  };

  return {
    press(event, now, admitted = true) {
      const none = { id: null, pending: false };
      if (event.isComposing || BARE.has(event.key.toLowerCase())) {
        return { id: null, pending: begun.length > 0 };
      }
      if (now - lastAt > SEQUENCE_MS) begun = [];
      lastAt = now;
      // A key held down repeats its letter, not its meaning.
      if (event.repeat) return none;
      if (!admitted) begun = [];
      const step = pressed(event);
      let found = find([...begun, step], admitted);
      // A wrong second key may be the first of another shortcut.
      if (!found.pending && found.id === null && begun.length > 0) {
        begun = [];
        found = find([step], admitted);
      }
      begun = found.pending ? [...begun, step] : [];
      return found;
    },
    reset() {
      begun = [];
    },
  };
}

/** For people: ["⌘", "K"], ["G", "then", "I"]. */
export function keyCaps(keys: string, isMac: boolean): string[] {
  const names: Record<string, string> = isMac
    ? { mod: "⌘", meta: "⌘", alt: "⌥", shift: "⇧", ctrl: "⌃", enter: "↵", escape: "Esc" }
    : {
        mod: "Ctrl",
        meta: "Meta",
        alt: "Alt",
        shift: "Shift",
        ctrl: "Ctrl",
        enter: "Enter",
        escape: "Esc",
      };
  const caps = keys
    .split(" ")
    .map((step) =>
      step
        .split("+")
        .map(
          (part) => names[part.toLowerCase()] ?? (part.length === 1 ? part.toUpperCase() : part),
        ),
    );
  return caps.flatMap((step, at) => (at === 0 ? step : ["then", ...step]));
}
