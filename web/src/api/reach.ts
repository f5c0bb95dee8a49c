/** Whether the server answers, and if not since when: what is shown is as old as that. */

import { useSyncExternalStore } from "react";

import { retryLateCode } from "@/lib/late-code";

const PROBE = "/healthz";
const PROBE_MS = 5_000;
/** Between two questions while it is silent. */
const AGAIN_MS = 2_000;

const watchers = new Set<() => void>();
const sleepers = new Set<() => void>();
let lastHeardMs = Date.now();
let silentSinceMs: number | null = null;
let isAsking = false;

/** The server has said something, if only no. */
export function heard(): void {
  lastHeardMs = Date.now();
  if (silentSinceMs === null) return;
  silentSinceMs = null;
  retryLateCode();
  tell();
  for (const wake of sleepers) wake();
}

/** A request had no answer. One alone says little: a page that is left takes back its own. */
export function unheard(): void {
  if (silentSinceMs === null && !isAsking) void ask();
}

async function ask(): Promise<void> {
  isAsking = true;
  const knownMs = lastHeardMs;
  const answers = await fetch(PROBE, { cache: "no-store", signal: AbortSignal.timeout(PROBE_MS) })
    .then((response) => !isFromBetween(response.status))
    .catch(() => false);
  isAsking = false;
  if (answers) return heard();
  // Something else may have been answered meanwhile.
  if (lastHeardMs !== knownMs) return;
  if (silentSinceMs === null) {
    silentSinceMs = knownMs;
    tell();
  }
  setTimeout(() => silentSinceMs !== null && !isAsking && void ask(), AGAIN_MS);
}

/** A proxy says that the server behind it does not answer. */
export function isFromBetween(status: number): boolean {
  return status === 502 || status === 504;
}

function tell(): void {
  for (const watcher of watchers) watcher();
}

/** Calls back whenever the server answers again; returns what ends that. */
export function onHeardAgain(wake: () => void): () => void {
  sleepers.add(wake);
  return () => sleepers.delete(wake);
}

/** When the server was last heard, in milliseconds; null while it answers. */
export function useSilence(): number | null {
  return useSyncExternalStore(watch, () => silentSinceMs);
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}
