import { describe, expect, it } from "vitest";

import { createNowStore } from "./use-now";

/** A page whose time goes on only when the test says so. */
function fakePage() {
  let now = 0;
  let hidden = false;
  let visibility: (() => void) | null = null;
  const timers = new Set<{ ms: number; next: number; tick: () => void }>();
  return {
    source: {
      now: () => now,
      isHidden: () => hidden,
      every: (ms: number, tick: () => void) => {
        const timer = { ms, next: now + ms, tick };
        timers.add(timer);
        return () => void timers.delete(timer);
      },
      onVisibility: (changed: () => void) => {
        visibility = changed;
        return () => void (visibility = null);
      },
    },
    timers,
    isWatched: () => visibility !== null,
    pass(ms: number) {
      for (const end = now + ms; now < end;) {
        now += 100;
        for (const timer of [...timers]) {
          if (now >= timer.next) {
            timer.next += timer.ms;
            timer.tick();
          }
        }
      }
    },
    hide(value: boolean) {
      hidden = value;
      visibility?.();
    },
  };
}

describe("createNowStore", () => {
  it("has one timer for all, of the shortest interval", () => {
    const page = fakePage();
    const store = createNowStore(page.source);
    const told = { slow: 0, fast: 0 };
    const stopSlow = store.subscribe(10_000, () => told.slow++);
    const stopFast = store.subscribe(1000, () => told.fast++);
    expect([store.snapshot(10_000), store.snapshot(1000)]).toEqual([0, 0]);
    expect(page.timers.size).toBe(1);
    page.pass(5000);
    expect(told.fast).toBe(5);
    expect(store.snapshot(1000)).toBe(5000);
    expect(store.snapshot(10_000)).toBe(0);
    page.pass(5000);
    expect(store.snapshot(10_000)).toBe(10_000);
    stopSlow();
    stopFast();
    expect(page.timers.size).toBe(0);
    expect(page.isWatched()).toBe(false);
  });

  it("keeps its answer between ticks, as React wants", () => {
    const page = fakePage();
    const store = createNowStore(page.source);
    store.subscribe(1000, () => undefined);
    const first = store.snapshot(1000);
    page.pass(500);
    expect(store.snapshot(1000)).toBe(first);
  });

  it("stands still while the page is hidden, and catches up", () => {
    const page = fakePage();
    const store = createNowStore(page.source);
    let told = 0;
    store.subscribe(1000, () => told++);
    expect(store.snapshot(1000)).toBe(0);
    page.hide(true);
    expect(page.timers.size).toBe(0);
    page.pass(60_000);
    const before = told;
    page.hide(false);
    expect(told).toBe(before + 1);
    expect(store.snapshot(1000)).toBe(60_000);
    expect(page.timers.size).toBe(1);
  });
});
