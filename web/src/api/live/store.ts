/** The state of the live connection, for whoever shows it or can help it. */

import { useSyncExternalStore } from "react";

import type { LiveState } from "./state";

const listeners = new Set<() => void>();
const sleepers = new Set<() => void>();
let current: LiveState = "connecting";

export function setLiveState(next: LiveState): void {
  if (next === current) return;
  current = next;
  for (const listener of listeners) listener();
}

/** How fresh the page is: by events, soon by events, or by asking every few seconds. */
export function useLiveState(): LiveState {
  return useSyncExternalStore(subscribe, liveState);
}

export function liveState(): LiveState {
  return current;
}

/** Somebody has signed in: try the connection at once. */
export function wakeLive(): void {
  for (const wake of sleepers) wake();
}

export function onWake(wake: () => void): () => void {
  sleepers.add(wake);
  return () => sleepers.delete(wake);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
