/** One connection to the server's events. Whoever opens it decides what to do when it ends. */

import { EventStreamReader, type StreamMessage } from "./event-stream";
import { pageHeaders } from "../page-secret";

export interface StreamHandlers {
  opened(): void;
  /** Whatever came together; also nothing, which is a sign of life. */
  heard(messages: readonly StreamMessage[]): void;
  /** The end, once; not after `close`. `refused`: the server says that nobody is signed in. */
  failed(refused: boolean): void;
}

export interface LiveStream {
  /** From now on nothing is called any more. */
  close(): void;
}

/** Begins after the event with a number, or now. Calls nothing before it has returned. */
export type OpenStream = (after: number | null, on: StreamHandlers) => LiveStream;

export const openStream: OpenStream = (after, on) => {
  const controller = new AbortController();
  const { signal } = controller;
  void follow(after, on, signal).then((refused) => {
    if (signal.aborted) return;
    controller.abort();
    on.failed(refused);
  });
  return { close: () => controller.abort() };
};

/** Until the end; true when the server refused because nobody is signed in. Never throws. */
async function follow(
  after: number | null,
  on: StreamHandlers,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const response = await fetch(after === null ? "/api/events" : `/api/events?after=${after}`, {
      headers: { Accept: "text/event-stream", ...pageHeaders() },
      credentials: "same-origin",
      cache: "no-store",
      signal,
    });
    const kind = response.headers.get("Content-Type") ?? "";
    if (!response.ok || !kind.startsWith("text/event-stream") || response.body === null) {
      return response.status === 401;
    }
    if (signal.aborted) return false;
    on.opened();
    await readAll(response.body.getReader(), on, signal);
  } catch {
    // No connection, or no longer one: how it ended makes no difference.
  }
  return false;
}

async function readAll(
  body: ReadableStreamDefaultReader<Uint8Array>,
  on: StreamHandlers,
  signal: AbortSignal,
): Promise<void> {
  const reader = new EventStreamReader();
  for (;;) {
    const { done, value } = await body.read();
    if (done || signal.aborted) return;
    on.heard(reader.read(value));
  }
}
