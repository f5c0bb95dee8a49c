import { useCallback, useMemo, useState } from "react";

import { scopeOf } from "@/lib/graph";

/** `fix[2].check` → ["fix[2]", "fix"] */
export function scopesOf(path: string): string[] {
  const found: string[] = [];
  for (let at = scopeOf(path); at !== "" && found.length < 40; at = scopeOf(at)) found.push(at);
  return found;
}

/** Which scopes are open: those that a person opened, and those around the selected task. */
export function useUnfolded(selected: string | null) {
  const [chosen, setChosen] = useState<ReadonlyMap<string, boolean>>(new Map());
  const unfolded = useMemo(() => {
    const open = new Set(selected === null ? [] : scopesOf(selected));
    for (const [path, isOpen] of chosen) {
      if (isOpen) open.add(path);
      else open.delete(path);
    }
    return open;
  }, [chosen, selected]);
  const toggle = useCallback(
    (path: string) => setChosen((known) => new Map(known).set(path, !unfolded.has(path))),
    [unfolded],
  );
  return { unfolded, toggle };
}
