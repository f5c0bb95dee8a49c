import { describe, expect, it } from "vitest";

import { EventStreamReader, OVERSIZED, type StreamMessage } from "./event-stream";

const bytes = (text: string) => new TextEncoder().encode(text);

function read(text: string, most?: number): StreamMessage[] {
  return new EventStreamReader(most).read(bytes(text));
}

const data = (text: string) => read(text).map((message) => message.data);

describe("reading events", () => {
  it("reads what the server sends", () => {
    const text =
      "retry: 2000\n: connected\n\n" +
      'id: 7\nevent: log\ndata: {"a":1}\n\n' +
      "event: heartbeat\ndata: {}\n\n";
    expect(read(text)).toEqual([
      { event: "log", id: "7", data: '{"a":1}' },
      { event: "heartbeat", id: "7", data: "{}" },
    ]);
  });

  it("is the same wherever the stream is cut", () => {
    const text =
      "\uFEFFid: 1\r\nevent: log\r\ndata: gr\u00FC\u00DFe \u{1F600}\r\n\r\n" +
      ": comment\ndata: two\ndata\ndata: lines\n\nid: 2\rdata: mac\r\r\r\ndata: last\n\n";
    const whole = read(text);
    expect(whole.map((message) => message.data)).toEqual([
      "gr\u00FC\u00DFe \u{1F600}",
      "two\n\nlines",
      "mac",
      "last",
    ]);
    expect(whole.map((message) => message.id)).toEqual(["1", "1", "2", "2"]);
    const all = bytes(text);
    for (let size = 1; size < all.length; size++) {
      const reader = new EventStreamReader();
      const found: StreamMessage[] = [];
      for (let at = 0; at < all.length; at += size) {
        found.push(...reader.read(all.subarray(at, at + size)));
      }
      expect(found, `in pieces of ${size}`).toEqual(whole);
    }
  });

  it("leaves out a byte order mark at the beginning only", () => {
    expect(data("\uFEFFdata: a\n\n\uFEFFdata: b\n\n")).toEqual(["a"]);
  });

  it("takes one space from a value and no more", () => {
    expect(data("data:a\n\ndata: a\n\ndata:  a \n\ndata:a:b\n\n")).toEqual([
      "a",
      "a",
      " a ",
      "a:b",
    ]);
  });

  it("gives events without data no voice, but their number counts", () => {
    expect(read("event: log\nid: 4\n\ndata: x\n\n")).toEqual([
      { event: "message", id: "4", data: "x" },
    ]);
    expect(data("data\n\ndata:\n\n\n\n")).toEqual(["", ""]);
  });

  it("follows the rules of numbers", () => {
    const ids = (text: string) => read(text).map((message) => message.id);
    expect(ids("id: 1\ndata: x\n\ndata: x\n\nid\ndata: x\n\n")).toEqual(["1", "1", ""]);
    expect(ids("id: 1\ndata: x\n\nid: 2\0\ndata: x\n\n")).toEqual(["1", "1"]);
  });

  it("knows no other fields, and no field in another case", () => {
    expect(data("Data: a\n data: b\nfoo: c\nretry: 1\n:data: d\ndata: e\n\n")).toEqual(["e"]);
  });

  it("forgets what has no end", () => {
    expect(read("data: a\n\ndata: b\n")).toHaveLength(1);
    expect(read("data: a\n\ndata: b")).toHaveLength(1);
  });

  it("reads bytes that are no text", () => {
    const reader = new EventStreamReader();
    const [message] = reader.read(new Uint8Array([...bytes("data: "), 0xff, 10, 10]));
    expect(message?.data).toBe("\uFFFD");
  });
});

describe("an event beyond the size", () => {
  const long = "x".repeat(100);

  it.each([
    ["in one line", `id: 5\nevent: log\ndata: ${long}\n\n`],
    ["in many lines", `id: 5\nevent: log\n${`data: ${"x".repeat(20)}\n`.repeat(9)}\n`],
  ])("%s is named, and what follows is read", (_, text) => {
    const all = bytes(`data: before\n\n${text}id: 6\ndata: after\n\n`);
    for (const size of [1, 7, 60, all.length]) {
      const reader = new EventStreamReader(50);
      const found: StreamMessage[] = [];
      for (let at = 0; at < all.length; at += size) {
        found.push(...reader.read(all.subarray(at, at + size)));
      }
      expect(found, `in pieces of ${size}`).toEqual([
        { event: "message", id: "", data: "before" },
        { event: OVERSIZED, id: "5", data: "" },
        { event: "message", id: "6", data: "after" },
      ]);
    }
  });

  it("is not kept while it comes", () => {
    const reader = new EventStreamReader(50);
    for (let n = 0; n < 1_000; n++) expect(reader.read(bytes(long))).toEqual([]);
    expect(JSON.stringify(reader).length).toBeLessThan(1_000);
  });

  it("does not take many comments for one", () => {
    expect(read(`${": alive\n".repeat(100)}data: x\n\n`, 50)).toHaveLength(1);
  });
});
