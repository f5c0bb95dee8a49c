/** The present for components that show how long ago something was: one timer for all of them. */
import { useCallback, useSyncExternalStore } from "react";

interface Watch {
  intervalMs: number;
  notify: () => void;
}

/** Made apart from the hook so that tests bring their own clock and page. */
export interface TimeSource {
  now(): number;
  every(ms: number, tick: () => void): () => void;
  isHidden(): boolean;
  onVisibility(changed: () => void): () => void;
}

export interface NowStore {
  subscribe(intervalMs: number, notify: () => void): () => void;
  snapshot(intervalMs: number): number;
}

export function createNowStore(source: TimeSource): NowStore {
  const watches = new Set<Watch>();
  const values = new Map<number, number>();
  let stopTimer: (() => void) | null = null;
  let stopVisibility: (() => void) | null = null;
  let periodMs = 0;

  const tick = () => {
    const now = source.now();
    for (const [intervalMs, value] of values) {
      // A timer may come a little early; that must not cost a whole interval.
      if (now - value >= intervalMs - periodMs / 2 || now < value) values.set(intervalMs, now);
    }
    for (const watch of [...watches]) watch.notify();
  };

  const restart = () => {
    stopTimer?.();
    stopTimer = null;
    if (watches.size === 0 || source.isHidden()) return;
    periodMs = Math.min(...[...watches].map((watch) => watch.intervalMs));
    stopTimer = source.every(periodMs, tick);
  };

  const visibilityChanged = () => {
    if (!source.isHidden()) tick();
    restart();
  };

  return {
    subscribe(intervalMs, notify) {
      const watch = { intervalMs, notify };
      if (watches.size === 0) stopVisibility = source.onVisibility(visibilityChanged);
      watches.add(watch);
      if (stopTimer === null || intervalMs < periodMs) restart();
      return () => {
        watches.delete(watch);
        if (![...watches].some((one) => one.intervalMs === intervalMs)) values.delete(intervalMs);
        if (watches.size > 0) return;
        restart();
        stopVisibility?.();
        stopVisibility = null;
      };
    },
    snapshot(intervalMs) {
      const known = values.get(intervalMs);
      if (known !== undefined) return known;
      const now = source.now();
      values.set(intervalMs, now);
      return now;
    },
  };
}

const page: TimeSource = {
  now: () => Date.now(),
  every: (ms, tick) => {
    const timer = setInterval(tick, ms);
    return () => clearInterval(timer);
  },
  isHidden: () => document.visibilityState === "hidden",
  onVisibility: (changed) => {
    document.addEventListener("visibilitychange", changed);
    return () => document.removeEventListener("visibilitychange", changed);
  },
};

const shared = createNowStore(page);

/** The present, anew about every `intervalMs` while the page is visible. */
export function useNow(intervalMs = 30_000): number {
  const subscribe = useCallback(
    (notify: () => void) => shared.subscribe(intervalMs, notify),
    [intervalMs],
  );
  return useSyncExternalStore(subscribe, () => shared.snapshot(intervalMs));
}
