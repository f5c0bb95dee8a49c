/** Between the stream and the cache: events wait for the next frame and are applied together. */

import type { QueryClient } from "@tanstack/react-query";

import { Statuses, patchAll } from "./cache";
import type { LiveEvent } from "./events";
import { Refresher } from "../refresh";

/** Hidden pages have no frames. */
const HIDDEN_MS = 250;

export class LiveFeed {
  /** The number of the last event; null before the first. */
  lastId: number | null = null;
  private readonly refresher: Refresher;
  private readonly statuses = new Statuses();
  private waiting: LiveEvent[] = [];
  private cancel: (() => void) | null = null;

  constructor(private readonly queryClient: QueryClient) {
    this.refresher = new Refresher(queryClient);
  }

  push(event: LiveEvent): void {
    if (!this.skip(event.id)) return;
    this.waiting.push(event);
    this.cancel ??= nextFrame(() => this.flush());
  }

  /** An event with this number has come. False when it is known already: after a reconnection some
   * are sent again. */
  skip(id: number): boolean {
    if (this.lastId !== null && id <= this.lastId) return false;
    this.lastId = id;
    return true;
  }

  /** What was missed is not known: numbers begin anew. */
  reset(): void {
    this.lastId = null;
    this.stop();
  }

  stop(): void {
    this.cancel?.();
    this.cancel = null;
    this.waiting = [];
    this.refresher.stop();
  }

  private flush(): void {
    this.cancel = null;
    const events = this.waiting;
    this.waiting = [];
    this.refresher.add(patchAll(this.queryClient, events, this.statuses));
  }
}

/** Both, since a page may become hidden while it waits for its frame. */
function nextFrame(run: () => void): () => void {
  const cancel = () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
  };
  const once = () => {
    cancel();
    run();
  };
  const frame = requestAnimationFrame(once);
  const timer = setTimeout(once, HIDDEN_MS);
  return cancel;
}
