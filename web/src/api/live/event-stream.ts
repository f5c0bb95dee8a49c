/** Reads server-sent events from the bytes of an answer. (`EventSource` can send no header.)
 *
 * As the standard says: https://html.spec.whatwg.org/multipage/server-sent-events.html, but for
 * `retry`, which is ours to decide, and for events beyond a size, of which only the number is kept. */

export interface StreamMessage {
  event: string;
  /** Of this event, or of the last one before it that had any. */
  id: string;
  data: string;
}

/** Stands for an event that was too large to read. */
export const OVERSIZED = "oversized";
/** Far beyond any event of the server; a stream without ends would fill the memory. */
const MAX_EVENT_CHARS = 4_000_000;

export class EventStreamReader {
  // Leaves out a byte order mark at the beginning; a character may be cut anywhere.
  private readonly decoder = new TextDecoder();
  /** A line whose end has not come yet. */
  private partial = "";
  private isAfterReturn = false;
  private event = "";
  private id = "";
  private data: string[] = [];
  private size = 0;
  private isOversized = false;

  constructor(private readonly most = MAX_EVENT_CHARS) {}

  /** The events that end in this piece of the stream. */
  read(bytes: Uint8Array): StreamMessage[] {
    let text = this.decoder.decode(bytes, { stream: true });
    if (text === "") return [];
    // A line's end of two characters was cut between them.
    if (this.isAfterReturn && text.startsWith("\n")) text = text.slice(1);
    this.isAfterReturn = text.endsWith("\r");
    const lines = text.split(/\r\n|\n|\r/);
    const rest = lines.pop() ?? "";
    const found: StreamMessage[] = [];
    for (const end of lines) {
      const line = this.partial + end;
      this.partial = "";
      const message = line === "" ? this.ended() : this.field(line);
      if (message !== null) found.push(message);
    }
    this.partial += rest;
    if (this.size + this.partial.length > this.most) {
      this.giveUp();
      // Whatever else comes of this line, it is no empty one: a comment stands for it.
      this.partial = ":";
    }
    return found;
  }

  private field(line: string): null {
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "event") this.event = value;
    else if (name === "id" && !value.includes("\0")) this.id = value;
    else if (name === "data") this.add(value);
    return null;
  }

  private add(value: string): void {
    this.size += value.length + 1;
    if (this.size > this.most) this.giveUp();
    else if (!this.isOversized) this.data.push(value);
  }

  private giveUp(): void {
    this.isOversized = true;
    this.data = [];
    this.size = 0;
  }

  private ended(): StreamMessage | null {
    const { event, id, data, isOversized } = this;
    this.event = "";
    this.data = [];
    this.size = 0;
    this.isOversized = false;
    if (isOversized) return { event: OVERSIZED, id, data: "" };
    return data.length === 0 ? null : { event: event || "message", id, data: data.join("\n") };
  }
}
