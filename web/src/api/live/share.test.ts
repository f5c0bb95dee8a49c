import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { StreamMessage } from "./event-stream";
import { shared, thisBrowser, type Browser } from "./share";
import type { LiveStream, StreamHandlers } from "./stream";

type Channel = ReturnType<Browser["channel"]>;
interface Waiting {
  grant: () => Promise<unknown>;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

const aborted = () => new DOMException("", "AbortError");

/** The locks and channels of one browser; everything arrives in its own task, as there. */
class FakeBrowser implements Browser {
  private readonly channels = new Set<Channel>();
  private holder: Waiting | null = null;
  private queue: Waiting[] = [];
  readonly frozen = new Set<Channel>();
  lastChannel: Channel | null = null;

  readonly channel = (): Channel => {
    const mine: Channel = {
      onmessage: null,
      close: () => void this.channels.delete(mine),
      postMessage: (data: unknown) => {
        if (!this.channels.has(mine)) throw new DOMException("", "InvalidStateError");
        const copy: unknown = structuredClone(data);
        for (const other of this.channels) {
          if (other === mine) continue;
          setTimeout(() => this.deliver(other, copy), 1);
        }
      },
    };
    this.channels.add(mine);
    this.lastChannel = mine;
    return mine;
  };

  private deliver(to: Channel, data: unknown): void {
    if (!this.channels.has(to) || this.frozen.has(to)) return;
    to.onmessage?.call(to as BroadcastChannel, new MessageEvent("message", { data }));
  }

  readonly locks = {
    request: ((_name: string, how: LockOptions, grant: () => Promise<unknown>) =>
      new Promise<unknown>((resolve, reject) => {
        const asked: Waiting = { grant, resolve, reject };
        how.signal?.addEventListener("abort", () => {
          if (!this.queue.includes(asked)) return;
          this.queue = this.queue.filter((one) => one !== asked);
          reject(aborted());
        });
        if (how.steal) {
          this.holder?.reject(aborted());
          this.holder = null;
          this.queue.unshift(asked);
        } else {
          this.queue.push(asked);
        }
        setTimeout(() => this.next(), 1);
      })) as LockManager["request"],
  };

  private next(): void {
    if (this.holder !== null) return;
    const one = this.queue.shift();
    if (one === undefined) return;
    this.holder = one;
    void one.grant().then((value) => {
      one.resolve(value);
      if (this.holder !== one) return;
      this.holder = null;
      this.next();
    });
  }
}

/** A connection to the server, by hand. */
interface Connection extends LiveStream {
  after: number | null;
  on: StreamHandlers;
  isClosed: boolean;
}

interface Tab {
  stream: LiveStream;
  channel: Channel;
  opened: number;
  heard: StreamMessage[];
  failed: boolean[];
}

let browser: FakeBrowser;
let connections: Connection[];
const open = (after: number | null, on: StreamHandlers): LiveStream => {
  const made: Connection = { after, on, isClosed: false, close: () => (made.isClosed = true) };
  connections.push(made);
  return made;
};
const alive = () => connections.filter((one) => !one.isClosed);
const message = (id: number): StreamMessage => ({ event: "log", id: String(id), data: "{}" });
const ids = (tab: Tab) =>
  tab.heard.map((one) => (one.event === "log" ? Number(one.id) : one.event));
const pass = (ms = 20) => vi.advanceTimersByTimeAsync(ms);

async function tab(after: number | null): Promise<Tab> {
  const made = { opened: 0, heard: [], failed: [] } as unknown as Tab;
  made.stream = shared(open, browser)(after, {
    opened: () => void made.opened++,
    heard: (messages) => void made.heard.push(...messages),
    failed: (refused) => void made.failed.push(refused),
  });
  made.channel = browser.lastChannel as Channel;
  await pass();
  return made;
}

function server(): Connection {
  expect(alive()).toHaveLength(1);
  return alive()[0] as Connection;
}

beforeEach(() => {
  vi.useFakeTimers();
  browser = new FakeBrowser();
  connections = [];
});
afterEach(() => vi.useRealTimers());

describe("tabs of one browser", () => {
  it("have one stream, and hear the same", async () => {
    const tabs = [await tab(4), await tab(4), await tab(4)];
    expect(server().after).toBe(4);
    server().on.opened();
    server().on.heard([message(5), message(7)]);
    server().on.heard([{ event: "heartbeat", id: "7", data: "{}" }]);
    await pass();
    for (const one of tabs) {
      expect(one.opened).toBe(1);
      expect(ids(one)).toEqual([5, 7, "heartbeat"]);
    }
  });

  it("are told at once that the stream is open when they come later", async () => {
    await tab(null);
    server().on.opened();
    const late = await tab(null);
    expect(late.opened).toBe(1);
    expect(late.heard).toEqual([]);
  });

  it("wait for a leader that is still connecting", async () => {
    await tab(null);
    const second = await tab(null);
    await pass(60_000);
    expect(connections).toHaveLength(1);
    expect(second).toMatchObject({ opened: 0, failed: [] });
  });

  it("go on when the leader is closed, from where the next one is", async () => {
    const [first, second, third] = [await tab(1), await tab(1), await tab(1)];
    server().on.opened();
    server().on.heard([message(2)]);
    await pass();
    first.stream.close();
    await pass();
    expect(server().after).toBe(2);
    server().on.opened();
    server().on.heard([message(3)]);
    await pass();
    expect(ids(first)).toEqual([2]);
    expect([ids(second), ids(third)]).toEqual([
      [2, 3],
      [2, 3],
    ]);
    expect([second.opened, third.opened]).toEqual([1, 1]);
  });

  it("know where to go on also before their first event", async () => {
    const first = await tab(1);
    server().on.opened();
    server().on.heard([message(9)]);
    await tab(null);
    first.stream.close();
    await pass();
    expect(server().after).toBe(9);
  });

  it("read anew when they have missed something, and only then", async () => {
    await tab(10);
    server().on.opened();
    const [same, behind, ahead] = [await tab(10), await tab(3), await tab(12)];
    expect([ids(same), ids(behind), ids(ahead)]).toEqual([[], ["reset"], []]);
    expect(behind.opened).toBe(1);
    server().on.heard([message(11), message(13)]);
    await pass();
    expect(ids(same)).toEqual([11, 13]);
    expect(ids(behind)).toEqual(["reset", 11, 13]);
    expect(ids(ahead)).toEqual([11, 13]);
  });

  it("cannot know what they missed of a leader without a number", async () => {
    await tab(null);
    server().on.opened();
    const [known, fresh] = [await tab(3), await tab(null)];
    expect([ids(known), ids(fresh)]).toEqual([["reset"], []]);
  });

  it("notice a message that got lost", async () => {
    await tab(1);
    const second = await tab(1);
    server().on.opened();
    await pass();
    browser.frozen.add(second.channel);
    server().on.heard([message(2)]);
    await pass();
    browser.frozen.delete(second.channel);
    server().on.heard([message(3)]);
    await pass();
    expect(ids(second)).toEqual(["reset", 3]);
  });

  it("pass on a reset, after which numbers begin anew", async () => {
    await tab(900);
    const second = await tab(900);
    server().on.opened();
    server().on.heard([{ event: "reset", id: "", data: "{}" }]);
    server().on.heard([message(3)]);
    await pass();
    expect(ids(second)).toEqual(["reset", 3]);
    expect(ids(await tab(3))).toEqual([]);
  });
});

describe("a leader", () => {
  it.each([true, false])(
    "tells why it failed (refused: %s), and all try for themselves",
    async (refused) => {
      const tabs = [await tab(1), await tab(1), await tab(1)];
      server().on.opened();
      await pass();
      // The next one may have the lead before it hears of it: then it learns the same by itself.
      while (alive().length > 0) {
        server().on.failed(refused);
        await pass();
      }
      expect(connections.length).toBeLessThanOrEqual(tabs.length);
      for (const one of tabs) expect(one.failed).toEqual([refused]);
      // Each waits a while by itself; who comes first leads.
      const again = await tab(5);
      expect(server().after).toBe(5);
      server().on.opened();
      expect(again.opened).toBe(1);
    },
  );

  it("that does not answer loses the lead, and follows when it is back", async () => {
    const frozen = await tab(1);
    server().on.opened();
    browser.frozen.add(frozen.channel);
    const others = [await tab(1), await tab(1), await tab(1)];
    expect(connections).toHaveLength(1);
    await pass(6_000);
    // Its own end comes when it wakes; then it asks as everybody does.
    expect(frozen.failed).toEqual([false]);
    expect(server()).not.toBe(connections[0]);
    expect(connections).toHaveLength(2);
    server().on.opened();
    server().on.heard([message(2)]);
    await pass();
    for (const one of others) expect([ids(one), one.failed]).toEqual([[2], []]);
    const back = await tab(2);
    expect([back.opened, connections.length]).toEqual([1, 2]);
  });

  it("that closes before it leads leaves nothing behind", async () => {
    const made = shared(open, browser)(null, {
      opened: () => undefined,
      heard: () => undefined,
      failed: () => undefined,
    });
    made.close();
    await pass(10_000);
    expect(connections).toEqual([]);
    await tab(null);
    expect(alive()).toHaveLength(1);
  });
});

describe("a tab alone", () => {
  it("has its own stream where there are no locks", () => {
    const on = {} as StreamHandlers;
    expect(thisBrowser()).toBeNull();
    shared(open)(3, on);
    expect(connections).toMatchObject([{ after: 3, on }]);
  });

  it("has its own stream where locks are not allowed", async () => {
    browser.locks.request = (() =>
      Promise.reject(new DOMException("", "SecurityError"))) as LockManager["request"];
    const one = await tab(3);
    server().on.opened();
    server().on.heard([message(4)]);
    expect([one.opened, ids(one)]).toEqual([1, [4]]);
  });
});
