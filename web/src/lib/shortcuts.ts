/**
 * Shortcuts of the pages on screen. A page registers its own while it is mounted; the app listens
 * once and lists them all under `?`.
 */

import { useEffect, useRef, useSyncExternalStore } from "react";

import { createMatcher, isMac, type EarlyPress, type KeyPress } from "@/lib/keys";
import { createGate } from "@/lib/shortcut-gate";

export interface PageShortcut {
  /** `g i`, `mod+k`, `j`; see `keys.ts`. */
  keys: string;
  label: string;
  run: () => void;
  /** Where it is listed: "Go to", "This page". */
  group?: string;
  whileTyping?: boolean;
}

type Registered = readonly PageShortcut[];

let groups: readonly Registered[] = [];
let all: Registered = [];
const watchers = new Set<() => void>();

function change(next: readonly Registered[]): void {
  groups = next;
  all = next.flat();
  for (const watcher of watchers) watcher();
}

/** Makes shortcuts work; returns what ends that. The latest to ask for a key gets it. */
export function registerShortcuts(shortcuts: Registered): () => void {
  change([shortcuts, ...groups]);
  return () => change(groups.filter((group) => group !== shortcuts));
}

/** Registers a page's shortcuts while it is shown. `run` may change with each render. */
export function useShortcuts(shortcuts: Registered): void {
  const latest = useRef(shortcuts);
  const shape = shortcuts.map((one) => `${one.keys}\n${one.label}`).join("\n\n");

  // Outside system: the registry. Runs first, so that a key always does what is on screen.
  useEffect(() => {
    latest.current = shortcuts;
  });

  // Outside system: the registry.
  useEffect(() => {
    const stable = latest.current.map((one, index) => ({
      ...one,
      run: () => latest.current[index]?.run(),
    }));
    return registerShortcuts(stable);
  }, [shape]);
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** Everything that works now, for the sheet under `?`. A key appears once. */
export function useAllShortcuts(): Registered {
  const list = useSyncExternalStore(watch, () => all);
  return list.filter((one, index) => list.findIndex((other) => other.keys === one.keys) === index);
}

type Press = KeyPress & {
  preventDefault: () => void;
  defaultPrevented: boolean;
  timeStamp: number;
};

/** A dialog or a menu has the keyboard for itself. */
const LAYER = "[role=dialog], [role=alertdialog], [role=menu]";
/** Something that is to be looked at is not there yet. */
const LOADING = "[aria-busy=true], [data-loading]";

function isThere(selector: string): boolean {
  return document.querySelector(selector) !== null;
}

export interface Listening {
  /** Whether a page is on its way that does not show yet. */
  isLoading?: () => boolean;
  /** What was pressed before anybody listened. */
  before?: readonly EarlyPress[];
}

/** Answers keys of `target`; returns what ends that. */
export function listenForShortcuts(
  target: Pick<Window, "addEventListener" | "removeEventListener">,
  { isLoading = () => false, before = [] }: Listening = {},
) {
  let known: Registered | null = null;
  let matcher = createMatcher([]);
  const gate = createGate();
  for (const press of before) gate.admits(press, { at: press.at, loading: true, layered: false });
  const onKey = (event: Event) => {
    const press = event as unknown as Press;
    const admitted = gate.admits(press, {
      at: press.timeStamp,
      loading: isLoading() || isThere(LOADING),
      layered: isThere(LAYER),
    });
    if (press.defaultPrevented) return;
    if (known !== all) {
      known = all;
      matcher = createMatcher(
        all.map((one, index) => ({
          id: String(index),
          keys: one.keys,
          whileTyping: one.whileTyping,
        })),
        { isMac },
      );
    }
    const { id } = matcher.press(press, press.timeStamp, admitted);
    const found = id === null ? undefined : known[Number(id)];
    if (!found) return;
    press.preventDefault();
    found.run();
  };
  target.addEventListener("keydown", onKey);
  return () => target.removeEventListener("keydown", onKey);
}
