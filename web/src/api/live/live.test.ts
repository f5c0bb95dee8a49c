import { QueryObserver, type QueryClient } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { startLive } from "./live";
import { liveState } from "./store";
import { orderKeys } from "../order-keys";
import { forgetPageSecret, keepPageSecret } from "../page-secret";
import { orderPageQuery } from "../orders";
import { aPage, anOrder, json, moment, refusal, testClient } from "../test-fixtures";
import type { OrderPage } from "../types";

/** One request for events, answered by hand. */
class Stream {
  static made: Stream[] = [];
  static get last(): Stream {
    return Stream.made.at(-1) as Stream;
  }
  readonly answer: Promise<Response>;
  private resolve: (response: Response) => void = () => undefined;
  private reject: (error: unknown) => void = () => undefined;
  private body: ReadableStreamDefaultController<Uint8Array> | null = null;

  constructor(
    readonly url: string,
    readonly init: RequestInit,
  ) {
    this.answer = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    init.signal?.addEventListener("abort", () => this.cut());
    Stream.made.push(this);
  }
  get isClosed(): boolean {
    return this.init.signal?.aborted === true;
  }
  async open(): Promise<void> {
    const body = new ReadableStream<Uint8Array>({ start: (made) => void (this.body = made) });
    this.resolve(new Response(body, { headers: { "Content-Type": "text/event-stream" } }));
    this.write("retry: 2000\n: connected\n\n");
    await settled();
  }
  async refuse(status: number): Promise<void> {
    this.resolve(refusal(status, "key_missing"));
    await settled();
  }
  /** The connection breaks, or never was. */
  async fail(): Promise<void> {
    this.cut();
    await settled();
  }
  send(kind: string, id: number, body: unknown): void {
    this.write(`id: ${id}\nevent: ${kind}\ndata: ${JSON.stringify(body)}\n\n`);
  }
  write(text: string): void {
    this.body?.enqueue(new TextEncoder().encode(text));
  }
  private cut(): void {
    const error = new DOMException("gone", this.isClosed ? "AbortError" : "NetworkError");
    this.reject(error);
    this.body?.error(error);
    this.body = null;
  }
}

const settled = () => vi.advanceTimersByTimeAsync(0);

let client: QueryClient;
let stop: () => void;
let requests: string[];
const order = (second: number) => ({
  agent_work_order: anOrder(1, { updated_at: moment(second), cost_usd: second }),
  tasks: [],
});
const answers: { list: () => Response; session: () => Response } = {
  list: () => json(aPage([anOrder(1)])),
  session: () => json({ session: { name: "ann" } }),
};

beforeEach(() => {
  vi.useFakeTimers();
  Stream.made = [];
  requests = [];
  vi.stubGlobal("fetch", async (request: Request | string, init: RequestInit) => {
    if (typeof request === "string") return new Stream(request, init).answer;
    const { pathname } = new URL(request.url);
    requests.push(pathname);
    return pathname === "/api/session" ? answers.session() : answers.list();
  });
  client = testClient();
  stop = startLive(client);
});

afterEach(() => {
  stop();
  client.clear();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

it("applies a burst together, and nothing twice after a reconnection", async () => {
  const key = orderKeys.page({}, 0);
  client.setQueryData(key, aPage([anOrder(1)]));
  const changes = vi.fn();
  client.getQueryCache().subscribe(changes);
  await Stream.last.open();
  changes.mockClear();
  for (let n = 1; n <= 1_000; n++) Stream.last.send("work_order", n, order(n));
  await settled();
  expect(changes).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(300);
  expect(changes.mock.calls.length).toBeLessThan(10);
  const cost = () => client.getQueryData<OrderPage>(key)?.agent_work_orders[0]?.cost_usd;
  expect(cost()).toBe(1_000);

  await Stream.last.fail();
  await vi.advanceTimersByTimeAsync(1_300);
  expect(Stream.last.url).toBe("/api/events?after=1000");
  await Stream.last.open();
  Stream.last.send("work_order", 1_000, order(5_000));
  Stream.last.send("work_order", 1_001, order(1_001));
  await vi.advanceTimersByTimeAsync(300);
  expect(cost()).toBe(1_001);
});

it("polls what is shown while the server is away, and goes back to the stream", async () => {
  const watching = new QueryObserver(client, orderPageQuery({}, 0)).subscribe(() => undefined);
  await Stream.last.open();
  Stream.last.send("work_order", 5, order(5));
  await vi.advanceTimersByTimeAsync(2_000);
  for (let attempt = 0; attempt < 3; attempt++) {
    await Stream.last.fail();
    await vi.advanceTimersByTimeAsync(5_000);
  }
  expect(liveState()).toBe("polling");
  const before = requests.length;
  await vi.advanceTimersByTimeAsync(9_500);
  expect(requests.length - before).toBe(3);

  for (let minute = 0; minute < 40; minute++) {
    await Stream.last.fail();
    await vi.advanceTimersByTimeAsync(20_000);
  }
  await Stream.last.open();
  expect(liveState()).toBe("live");
  expect(Stream.last.url).toBe("/api/events?after=5");
  await vi.advanceTimersByTimeAsync(1_000);
  const settled = requests.length;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(requests.length).toBe(settled);
  watching();
});

it("takes silence for a lost connection, and a heartbeat for life", async () => {
  await Stream.last.open();
  for (let n = 0; n < 8; n++) {
    await vi.advanceTimersByTimeAsync(15_000);
    Stream.last.write("event: heartbeat\ndata: {}\n\n");
  }
  expect(liveState()).toBe("live");
  expect(Stream.made).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(50_000);
  expect(liveState()).not.toBe("live");
  expect(Stream.made.length).toBeGreaterThan(1);
});

it("holds no connection for a page that nobody looks at", async () => {
  const hidden = vi.spyOn(document, "hidden", "get").mockReturnValue(true);
  document.dispatchEvent(new Event("visibilitychange"));
  await vi.advanceTimersByTimeAsync(11_000);
  expect(Stream.last.isClosed).toBe(true);
  const before = Stream.made.length;
  const stopOther = startLive(client);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(Stream.made).toHaveLength(before);
  hidden.mockReturnValue(false);
  document.dispatchEvent(new Event("visibilitychange"));
  expect(Stream.made).toHaveLength(before + 2);
  stopOther();
  hidden.mockRestore();
});

it("tries at once when the network is back", async () => {
  await Stream.last.open();
  window.dispatchEvent(new Event("offline"));
  expect(liveState()).toBe("connecting");
  const before = Stream.made.length;
  window.dispatchEvent(new Event("online"));
  expect(Stream.made.length).toBe(before + 1);
});

it("loads anew after a reset", async () => {
  const watching = new QueryObserver(client, orderPageQuery({}, 0)).subscribe(() => undefined);
  await Stream.last.open();
  Stream.last.send("work_order", 900, order(1));
  await vi.advanceTimersByTimeAsync(2_000);
  const before = requests.length;
  Stream.last.write("event: reset\ndata: {}\n\n");
  await vi.advanceTimersByTimeAsync(10);
  expect(requests.length).toBe(before + 1);
  Stream.last.send("work_order", 3, order(3));
  await vi.advanceTimersByTimeAsync(300);
  const page = client.getQueryData<OrderPage>(orderKeys.page({}, 0));
  expect(page?.agent_work_orders[0]?.cost_usd).toBe(3);
  watching();
});

it("stops trying when nobody is signed in", async () => {
  answers.session = () => refusal(401, "key_missing");
  await Stream.last.refuse(401);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(requests).toEqual(["/api/session"]);
  expect(Stream.made).toHaveLength(1);
  answers.session = () => json({ session: { name: "ann" } });
});

it("goes on when somebody has signed in meanwhile", async () => {
  keepPageSecret("old");
  await Stream.last.refuse(401);
  keepPageSecret("new");
  await vi.advanceTimersByTimeAsync(2_000);
  expect(requests).toEqual(["/api/session"]);
  expect(Stream.made).toHaveLength(2);
  expect(Stream.last.init.headers).toMatchObject({ "X-AWO-Page": "new" });
  forgetPageSecret();
});

it.each([403, 500, 503])("asks nobody who it is when the answer is %i", async (status) => {
  await Stream.last.refuse(status);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(requests).toEqual([]);
  expect(Stream.made).toHaveLength(2);
});

it("takes another program's answer for none", async () => {
  vi.stubGlobal(
    "fetch",
    async () => new Response("<p>", { headers: { "Content-Type": "text/html" } }),
  );
  await Stream.last.fail();
  await vi.advanceTimersByTimeAsync(30_000);
  expect(liveState()).toBe("polling");
});

it("reads anew instead of an event that is too large, and goes on behind it", async () => {
  const watching = new QueryObserver(client, orderPageQuery({}, 0)).subscribe(() => undefined);
  await Stream.last.open();
  await vi.advanceTimersByTimeAsync(2_000);
  const before = requests.length;
  Stream.last.write("id: 7\nevent: log\ndata: ");
  for (let n = 0; n < 5; n++) Stream.last.write("x".repeat(1_000_000));
  Stream.last.write("\n\n");
  await vi.advanceTimersByTimeAsync(10);
  expect(requests.length).toBe(before + 1);
  await Stream.last.fail();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(Stream.last.url).toBe("/api/events?after=7");
  watching();
});

it("gives its part back before it is frozen or put aside, and comes back", async () => {
  await Stream.last.open();
  document.dispatchEvent(new Event("freeze"));
  expect(Stream.last.isClosed).toBe(true);
  document.dispatchEvent(new Event("resume"));
  expect(Stream.made).toHaveLength(2);
  await Stream.last.open();
  window.dispatchEvent(new Event("pagehide"));
  expect(Stream.last.isClosed).toBe(true);
  window.dispatchEvent(Object.assign(new Event("pageshow"), { persisted: true }));
  expect(Stream.made).toHaveLength(3);
});

it("proves with every stream that it is our page", () => {
  keepPageSecret("mine");
  startLive(client)();
  expect(Stream.last.init).toMatchObject({
    credentials: "same-origin",
    headers: { "X-AWO-Page": "mine" },
  });
  forgetPageSecret();
});
