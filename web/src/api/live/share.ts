/** One stream for all tabs of a browser. Browsers allow six connections to a server, and each
 * stream would hold one: whoever looks at seven tabs could ask for nothing any more.
 *
 * The tab that holds a lock leads: it has the stream, and passes on what it hears. The browser gives
 * the lock to the next tab when its holder closes, crashes or rests. A leader that does not answer
 * (frozen, or busy for long) loses it to whoever asked.
 *
 * What is passed on says which number it follows, so a tab that has missed something knows: it
 * behaves as after the server's `reset` and reads anew what it shows. */

import type { StreamMessage } from "./event-stream";
import type { LiveStream, OpenStream, StreamHandlers } from "./stream";

/** Another one when what is said changes: tabs of an older dashboard may still be open. */
const NAME = "awo-live-1";
const ANSWER_MS = 3_000;
/** Spread, so that one of many takes the lead and the others hear of it. */
const SPREAD_MS = 2_000;
const RESET: StreamMessage = { event: "reset", id: "", data: "{}" };

type Said =
  | { type: "hello" }
  /** From the leader: there is one. */
  | { type: "connecting" }
  /** From the leader: connected, and what it has told ends with this number. */
  | { type: "live"; at: number | null }
  | { type: "heard"; before: number | null; messages: readonly StreamMessage[] }
  | { type: "failed"; refused: boolean };

export interface Browser {
  locks: Pick<LockManager, "request">;
  channel: (name: string) => Pick<BroadcastChannel, "postMessage" | "onmessage" | "close">;
}

/** Null where tabs cannot agree: old browsers, and pages from another machine without https. */
export function thisBrowser(): Browser | null {
  const { locks } = navigator as { locks?: LockManager };
  if (locks === undefined || typeof BroadcastChannel === "undefined") return null;
  return { locks, channel: (name) => new BroadcastChannel(name) };
}

/** The same, but shared with the browser's other tabs; alone each tab has its own. */
export function shared(open: OpenStream, browser: Browser | null = thisBrowser()): OpenStream {
  return browser === null ? open : (after, on) => new Member(open, browser, after, on);
}

class Member implements LiveStream {
  private readonly channel: ReturnType<Browser["channel"]>;
  private readonly waiting = new AbortController();
  private readonly patience: ReturnType<typeof setTimeout>;
  private own: LiveStream | null = null;
  private isOwnOpen = false;
  private isOpen = false;
  private isClosed = false;
  private release: () => void = () => undefined;

  /** `at`: everything up to this number is known here. */
  constructor(
    private readonly open: OpenStream,
    private readonly browser: Browser,
    private at: number | null,
    private readonly on: StreamHandlers,
  ) {
    this.channel = browser.channel(NAME);
    this.channel.onmessage = ({ data }: MessageEvent<Said>) => this.listen(data);
    this.patience = setTimeout(() => this.takeOver(), ANSWER_MS + Math.random() * SPREAD_MS);
    this.ask({ signal: this.waiting.signal });
    this.say({ type: "hello" });
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.patience);
    this.waiting.abort();
    this.own?.close();
    this.channel.close();
    this.release();
  }

  private ask(how: LockOptions): void {
    this.browser.locks
      .request(NAME, how, () => this.lead())
      .catch((error: unknown) => {
        if (this.isClosed) return;
        // Somebody has taken the lead from this tab, which must have been away.
        if (this.own !== null) this.end(false);
        // Where locks are not allowed there is nobody to wait for.
        else if ((error as { name?: unknown }).name !== "AbortError") void this.lead();
      });
  }

  private takeOver(): void {
    this.waiting.abort();
    this.ask({ steal: true });
  }

  /** Settles when the lead is given back. */
  private lead(): Promise<void> {
    if (this.isClosed) return Promise.resolve();
    clearTimeout(this.patience);
    this.say({ type: "connecting" });
    this.own = this.open(this.at, {
      opened: () => {
        this.isOwnOpen = true;
        this.say({ type: "live", at: this.at });
        this.opened();
      },
      heard: (messages) => {
        if (messages.length > 0) this.say({ type: "heard", before: this.at, messages });
        this.pass(messages);
      },
      failed: (refused) => {
        this.say({ type: "failed", refused });
        this.end(refused);
      },
    });
    return new Promise((resolve) => (this.release = resolve));
  }

  private end(refused: boolean): void {
    this.close();
    this.on.failed(refused);
  }

  private listen(said: Said): void {
    if (this.isClosed) return;
    if (this.own !== null) {
      if (said.type === "hello") {
        this.say(this.isOwnOpen ? { type: "live", at: this.at } : { type: "connecting" });
      }
      return;
    }
    if (said.type === "hello") return;
    clearTimeout(this.patience);
    switch (said.type) {
      case "live":
        this.opened();
        this.compare(said.at);
        break;
      case "heard":
        this.opened();
        this.compare(said.before);
        this.pass(said.messages);
        break;
      case "failed":
        this.end(said.refused);
    }
  }

  private opened(): void {
    if (this.isOpen) return;
    this.isOpen = true;
    this.on.opened();
  }

  /** Whether what comes next follows what is known here. */
  private compare(before: number | null): void {
    if (this.at !== null && (before === null || before > this.at)) this.on.heard([RESET]);
    else if (this.at !== null) return;
    this.at = before;
  }

  private pass(messages: readonly StreamMessage[]): void {
    for (const { event, id } of messages) {
      if (event === "reset") this.at = null;
      else if (event !== "heartbeat" && /^\d+$/.test(id)) {
        this.at = Math.max(this.at ?? 0, Number(id));
      }
    }
    this.on.heard(messages);
  }

  private say(said: Said): void {
    this.channel.postMessage(said);
  }
}
