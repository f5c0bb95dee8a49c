import { QueryObserver, type QueryClient } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { startLive } from "./live";
import { liveState } from "./live-store";
import { orderKeys } from "./order-keys";
import { orderPageQuery } from "./orders";
import { aPage, anOrder, json, moment, refusal, testClient } from "./test-fixtures";
import type { OrderPage } from "./types";

class Stream extends EventTarget {
  static readonly CLOSED = 2;
  static made: Stream[] = [];
  static get last(): Stream {
    return Stream.made.at(-1) as Stream;
  }
  readyState = 0;
  onopen: (() => void) | null = null;
  onerror: (() => void) | null = null;

  constructor(readonly url: string) {
    super();
    Stream.made.push(this);
  }
  close(): void {
    this.readyState = Stream.CLOSED;
  }
  open(): void {
    this.readyState = 1;
    this.onopen?.();
  }
  fail(refused = false): void {
    this.readyState = refused ? Stream.CLOSED : 0;
    this.onerror?.();
  }
  send(kind: string, id: number, body: unknown): void {
    const data = JSON.stringify(body);
    this.dispatchEvent(new MessageEvent(kind, { data, lastEventId: String(id) }));
  }
}

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
  vi.stubGlobal("EventSource", Stream);
  vi.stubGlobal("fetch", async (request: Request) => {
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
  Stream.last.open();
  for (let n = 1; n <= 1_000; n++) Stream.last.send("work_order", n, order(n));
  expect(changes).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(300);
  expect(changes.mock.calls.length).toBeLessThan(10);
  const cost = () => client.getQueryData<OrderPage>(key)?.agent_work_orders[0]?.cost_usd;
  expect(cost()).toBe(1_000);

  Stream.last.fail();
  await vi.advanceTimersByTimeAsync(1_300);
  expect(Stream.last.url).toBe("/api/events?after=1000");
  Stream.last.open();
  Stream.last.send("work_order", 1_000, order(5_000));
  Stream.last.send("work_order", 1_001, order(1_001));
  await vi.advanceTimersByTimeAsync(300);
  expect(cost()).toBe(1_001);
});

it("polls what is shown while the server is away, and goes back to the stream", async () => {
  const watching = new QueryObserver(client, orderPageQuery({}, 0)).subscribe(() => undefined);
  Stream.last.open();
  Stream.last.send("work_order", 5, order(5));
  await vi.advanceTimersByTimeAsync(2_000);
  for (let attempt = 0; attempt < 3; attempt++) {
    Stream.last.fail();
    await vi.advanceTimersByTimeAsync(5_000);
  }
  expect(liveState()).toBe("polling");
  const before = requests.length;
  await vi.advanceTimersByTimeAsync(9_500);
  expect(requests.length - before).toBe(3);

  for (let minute = 0; minute < 40; minute++) {
    Stream.last.fail();
    await vi.advanceTimersByTimeAsync(20_000);
  }
  Stream.last.open();
  expect(liveState()).toBe("live");
  expect(Stream.last.url).toBe("/api/events?after=5");
  await vi.advanceTimersByTimeAsync(1_000);
  const settled = requests.length;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(requests.length).toBe(settled);
  watching();
});

it("takes silence for a lost connection, and a heartbeat for life", async () => {
  Stream.last.open();
  for (let n = 0; n < 8; n++) {
    await vi.advanceTimersByTimeAsync(15_000);
    Stream.last.dispatchEvent(new MessageEvent("heartbeat", { data: "{}" }));
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
  expect(Stream.last.readyState).toBe(Stream.CLOSED);
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

it("tries at once when the network is back", () => {
  Stream.last.open();
  window.dispatchEvent(new Event("offline"));
  expect(liveState()).toBe("connecting");
  const before = Stream.made.length;
  window.dispatchEvent(new Event("online"));
  expect(Stream.made.length).toBe(before + 1);
});

it("loads anew after a reset", async () => {
  const watching = new QueryObserver(client, orderPageQuery({}, 0)).subscribe(() => undefined);
  Stream.last.open();
  Stream.last.send("work_order", 900, order(1));
  await vi.advanceTimersByTimeAsync(2_000);
  const before = requests.length;
  Stream.last.dispatchEvent(new MessageEvent("reset", { data: "{}" }));
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
  Stream.last.fail(true);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(requests).toEqual(["/api/session"]);
  expect(Stream.made).toHaveLength(1);
  answers.session = () => json({ session: { name: "ann" } });
});
