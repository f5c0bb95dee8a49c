/** The live connection: one stream of events, shared by all tabs of the browser (`live-share.ts`).
 *
 * It is made anew always with the number of the last event, so a restart of the server loses
 * nothing. While there is none, what is shown is asked for every few seconds. A page that nobody
 * sees gives its part back after a while: what works for nobody should not run. */

import type { QueryClient } from "@tanstack/react-query";

import { OVERSIZED, type StreamMessage } from "./event-stream";
import { isEventKind, readEvent } from "./events";
import { LiveFeed } from "./feed";
import { shared } from "./share";
import { PATIENCE_MS, after, beginning, waitMs, type Happening } from "./state";
import { onWake, setLiveState } from "./store";
import { openStream, type LiveStream } from "./stream";
import { Problem, isTransient } from "../problem";
import { heard, onHeardAgain, unheard } from "../reach";
import { isLive } from "../refresh";
import { sessionQuery } from "../session";

export { patchCache } from "./cache";
export type { LiveState } from "./state";
export { useLiveState } from "./store";

const POLL_MS = 3_000;
/** A page's first requests have their answers by then; what happened between an answer and the
 * beginning of the stream is in neither. */
const SETTLE_MS = 1_000;
const HIDDEN_MS = 10_000;
/** The server is heard every 15 seconds, if only by a heartbeat. */
const SILENCE_MS = 40_000;
/** A timer that is so late slept with the machine; the connection did not survive that. */
const TICK_MS = 5_000;
const SLEPT_MS = 30_000;

/** Connects, keeps connected, and keeps the cache fresh until the returned function is called. */
export function startLive(queryClient: QueryClient): () => void {
  const live = new Live(queryClient);
  live.start();
  return () => live.stop();
}

class Live {
  private connection = beginning(Date.now());
  private readonly feed: LiveFeed;
  private readonly open = shared(openStream);
  private stream: LiveStream | null = null;
  private hasOpened = false;
  private settling: ReturnType<typeof setTimeout> | undefined;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private impatience: ReturnType<typeof setTimeout> | undefined;
  private hiding: ReturnType<typeof setTimeout> | undefined;
  private poll: ReturnType<typeof setInterval> | undefined;
  private tick: ReturnType<typeof setInterval> | undefined;
  private lastTickMs = Date.now();
  private lastHeardMs = Date.now();
  private stopListening: () => void = () => undefined;

  constructor(private readonly queryClient: QueryClient) {
    this.feed = new LiveFeed(queryClient);
  }

  start(): void {
    const { signal, abort } = abortable();
    window.addEventListener("online", () => this.wake(), { signal });
    window.addEventListener("offline", () => this.lost(false), { signal });
    document.addEventListener("visibilitychange", () => this.seen(), { signal });
    // Timers of a page that is frozen, or goes into the back-forward cache, stand still.
    window.addEventListener("pagehide", () => this.rest(), { signal });
    document.addEventListener("freeze", () => this.rest(), { signal });
    document.addEventListener("resume", () => this.seen(), { signal });
    window.addEventListener("pageshow", (event) => event.persisted && this.wake(), { signal });
    const forget = onWake(() => {
      this.happened({ type: "signed-in" });
      this.wake();
    });
    const deafen = onHeardAgain(() => this.stream === null && this.wake());
    this.stopListening = () => {
      abort();
      forget();
      deafen();
    };
    this.tick = setInterval(() => {
      this.checkSleep();
      this.checkSilence();
    }, TICK_MS);
    // A page that is opened in the background asks for its events when it is looked at.
    if (!document.hidden) this.connect();
  }

  stop(): void {
    this.stopListening();
    for (const timer of [
      this.settling,
      this.retry,
      this.impatience,
      this.hiding,
      this.poll,
      this.tick,
    ]) {
      clearTimeout(timer);
    }
    this.close();
    this.feed.stop();
  }

  private connect(): void {
    this.close();
    clearTimeout(this.retry);
    clearTimeout(this.impatience);
    this.impatience = setTimeout(() => this.happened({ type: "waited" }), PATIENCE_MS);
    this.lastHeardMs = Date.now();
    this.stream = this.open(this.feed.lastId, {
      opened: () => this.opened(),
      heard: (messages) => this.take(messages),
      failed: (refused) => this.lost(refused),
    });
  }

  private take(messages: readonly StreamMessage[]): void {
    this.lastHeardMs = Date.now();
    heard();
    for (const { event: kind, id, data } of messages) {
      if (isEventKind(kind)) {
        const event = readEvent(kind, id, data);
        if (event !== null) this.feed.push(event);
      } else if (kind === OVERSIZED) {
        if (this.feed.skip(Number(id))) this.readAll();
      } else if (kind === "reset") {
        this.feed.reset();
        this.readAll();
      }
    }
  }

  private opened(): void {
    this.lastHeardMs = Date.now();
    heard();
    // Without a number nothing can be caught up: what was read before the stream began may be old.
    if (this.feed.lastId === null) {
      if (this.hasOpened) this.readAll();
      else this.settling = setTimeout(() => this.pollAll(), SETTLE_MS);
    }
    this.hasOpened = true;
    // No event mends what could not be read while the server was away.
    void this.queryClient.invalidateQueries({
      predicate: ({ state }) => state.status === "error" && isUnanswered(state.error),
    });
    this.happened({ type: "opened" });
  }

  private lost(refused: boolean): void {
    if (this.stream === null) return;
    this.close();
    unheard();
    this.happened({ type: "failed" });
    clearTimeout(this.retry);
    this.retry = setTimeout(() => this.connect(), waitMs(this.connection.failures, Math.random()));
    if (refused) void this.checkSession();
  }

  /** Another tab may have signed in meanwhile; if not, asking brings the page to the sign-in. */
  private async checkSession(): Promise<void> {
    try {
      await this.queryClient.fetchQuery({ ...sessionQuery(), staleTime: 0 });
    } catch (error) {
      if (!(error instanceof Problem) || !error.isSignedOut) return;
      clearTimeout(this.retry);
      this.happened({ type: "signed-out" });
    }
  }

  /** Something says that it may work now. */
  private wake(): void {
    if (!this.connection.signedOut && !document.hidden) this.connect();
  }

  private seen(): void {
    clearTimeout(this.hiding);
    if (document.hidden) {
      this.hiding = setTimeout(() => this.rest(), HIDDEN_MS);
    } else if (this.stream === null) {
      this.wake();
    }
  }

  /** Give the connection back until the page is looked at again. */
  private rest(): void {
    clearTimeout(this.retry);
    clearTimeout(this.impatience);
    this.close();
  }

  private checkSleep(): void {
    const nowMs = Date.now();
    const sleptMs = nowMs - this.lastTickMs - TICK_MS;
    this.lastTickMs = nowMs;
    if (sleptMs > SLEPT_MS) this.wake();
  }

  /** A server that hangs, or a network that swallows everything, closes no connection. */
  private checkSilence(): void {
    if (this.stream !== null && Date.now() - this.lastHeardMs > SILENCE_MS) this.lost(false);
  }

  private close(): void {
    this.stream?.close();
    this.stream = null;
  }

  private happened(happening: Happening): void {
    this.connection = after(this.connection, happening, Date.now());
    const { state } = this.connection;
    setLiveState(state);
    if (state !== "connecting") clearTimeout(this.impatience);
    if (state !== "polling") {
      clearInterval(this.poll);
      this.poll = undefined;
    } else {
      this.poll ??= setInterval(() => !document.hidden && this.pollAll(), POLL_MS);
    }
  }

  private readAll(): void {
    void this.queryClient.invalidateQueries({ predicate: isLive });
  }

  /** A server that needs longer than a round must still be able to answer. */
  private pollAll(): void {
    void this.queryClient.invalidateQueries({ predicate: isLive }, { cancelRefetch: false });
  }
}

function isUnanswered(error: unknown): boolean {
  return isTransient(error) || (error instanceof Problem && error.isTimeout);
}

function abortable(): { signal: AbortSignal; abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}
