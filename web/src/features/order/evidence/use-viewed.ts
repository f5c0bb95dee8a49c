import { useState } from "react";

import type { DiffFile } from "@/lib/diff";

import { fingerprint } from "./diff-model";

type Marks = Readonly<Record<string, string>>;

/** At most so many marks of one diff are kept in the browser. */
const MOST = 2000;

/** Which files somebody has looked at; kept in this browser, forgotten when the file changes. */
export function useViewed(storageKey: string) {
  const [state, setState] = useState(() => ({ storageKey, marks: read(storageKey) }));
  const current = state.storageKey === storageKey ? state : { storageKey, marks: read(storageKey) };
  if (current !== state) setState(current);
  const { marks } = current;
  return {
    isViewed: (file: DiffFile) =>
      marks[file.key] !== undefined && marks[file.key] === fingerprint(file),
    toggle: (file: DiffFile, viewed: boolean) => {
      const { [file.key]: _old, ...others } = marks;
      const next = viewed ? { ...others, [file.key]: fingerprint(file) } : others;
      write(storageKey, next);
      setState({ storageKey, marks: next });
    },
  };
}

function read(key: string): Marks {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(key) ?? "{}");
    if (typeof found !== "object" || found === null) return {};
    const marks = Object.entries(found).filter((pair) => typeof pair[1] === "string");
    return Object.fromEntries(marks) as Marks;
  } catch {
    return {}; // storage is off, or not ours
  }
}

function write(key: string, marks: Marks): void {
  try {
    localStorage.setItem(key, JSON.stringify(Object.fromEntries(Object.entries(marks).slice(-MOST))));
  } catch {
    // Storage is off or full: the marks last as long as the page.
  }
}
