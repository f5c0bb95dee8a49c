/**
 * Code that comes only when it is wanted, from a server that may be away just then. It is asked for
 * until it comes: nothing breaks meanwhile, and nothing has to be loaded anew afterwards.
 */

import {
  createElement,
  use,
  useSyncExternalStore,
  type ComponentType,
  type ReactNode,
} from "react";

/** Between two tries, unless something says before that one may work. */
const WAITS_MS = [1_000, 2_000, 4_000, 8_000, 15_000];
/** So often it has failed on a server that answers: the server has another version's code. */
const OUTDATED_AFTER = 3;

const failures = new Map<object, number>();
const watchers = new Set<() => void>();
const waiting = new Set<() => void>();

function tell(): void {
  for (const watcher of watchers) watcher();
}

/** Try what is missing now: the server is back. */
export function retryLateCode(): void {
  if (failures.size === 0) return;
  for (const one of failures.keys()) failures.set(one, 0);
  tell();
  for (const goOn of [...waiting]) goOn();
}

/** Something that throws when it runs is broken; asking again would not help. */
function isMissing(error: unknown): boolean {
  return error instanceof Error && /import|module script|preload/i.test(error.message);
}

async function persist<T>(load: () => Promise<T>): Promise<T> {
  const self = {};
  for (let tries = 0; ; tries++) {
    try {
      const code = await load();
      if (failures.delete(self)) tell();
      return code;
    } catch (error) {
      if (!isMissing(error)) {
        if (failures.delete(self)) tell();
        throw error;
      }
      failures.set(self, (failures.get(self) ?? 0) + 1);
      tell();
    }
    await rest(WAITS_MS[Math.min(tries, WAITS_MS.length - 1)] ?? 0);
  }
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const goOn = () => {
      clearTimeout(timer);
      waiting.delete(goOn);
      resolve();
    };
    const timer = setTimeout(goOn, ms);
    waiting.add(goOn);
  });
}

export type LateComponent<Props> = ((props: Props) => ReactNode) & {
  preload: () => Promise<void>;
};

/** A component whose code comes when it is first shown, or by `preload`; put `<Suspense>` around it. */
export function late<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): LateComponent<Props> {
  let arrived: ComponentType<Props> | undefined;
  let coming: Promise<void> | undefined;
  const preload = () =>
    (coming ??= persist(load).then(
      (component) => {
        arrived = component;
      },
      (error: unknown) => {
        coming = undefined;
        throw error;
      },
    ));
  function Late(props: Props) {
    if (arrived === undefined) use(preload());
    return arrived === undefined ? null : createElement(arrived, props);
  }
  return Object.assign(Late, { preload });
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** How it stands with code that was wanted: all is there or on its way, some could not be had yet,
 * or the server, which answers, has none of it any more. */
export type Lateness = "none" | "late" | "outdated";

export function useLateness(): Lateness {
  return useSyncExternalStore(watch, lateness);
}

export function lateness(): Lateness {
  const worst = Math.max(0, ...failures.values());
  if (worst >= OUTDATED_AFTER) return "outdated";
  return failures.size > 0 ? "late" : "none";
}
