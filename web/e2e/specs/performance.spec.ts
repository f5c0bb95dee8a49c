/** What a first visit costs. Every number is the median of five visits with an empty cache. */

import type { Browser } from "@playwright/test";
import { gzipSync } from "node:zlib";
import { expect, test } from "../fixtures";
import { measured, median, TIME_SLACK } from "../measures";
import { furnish } from "../pages";
import type { Server } from "../server";

const VISITS = 5;
const PAINT_MS = 1_000;
const SCRIPT_KB = 250;
/** Nothing came for so long: the page has what it wants. */
const QUIET_MS = 1_500;

interface Visit {
  paint_ms: number;
  /** The largest thing on the page: the list, not its frame. */
  largest_ms: number;
  /** Sizes as gzip would send them, by address. */
  scripts: Record<string, number>;
}

type State = Awaited<ReturnType<Awaited<ReturnType<Browser["newContext"]>>["storageState"]>>;

async function visit(browser: Browser, server: Server, state: State, path: string): Promise<Visit> {
  const context = await browser.newContext({ storageState: state });
  try {
    const page = await context.newPage();
    const scripts: Record<string, number> = {};
    let lastMs = Date.now();
    page.on("response", (response) => {
      lastMs = Date.now();
      if (response.request().resourceType() !== "script") return;
      const name = new URL(response.url()).pathname;
      scripts[name] = 0;
      void response.body().then((body) => (scripts[name] = gzipSync(body).length));
    });
    await page.goto(server.url + path);
    // Not "networkidle": the stream of events is a request that never ends.
    await expect.poll(() => Date.now() - lastMs, { timeout: 20_000 }).toBeGreaterThan(QUIET_MS);
    const paint_ms = await page.evaluate(
      () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN,
    );
    const largest_ms = await page.evaluate(
      () =>
        new Promise<number>((resolve) => {
          new PerformanceObserver((list) => {
            resolve(list.getEntries().at(-1)?.startTime ?? Number.NaN);
          }).observe({ type: "largest-contentful-paint", buffered: true });
        }),
    );
    return { paint_ms, largest_ms, scripts };
  } finally {
    await context.close();
  }
}

const named = (visit: Visit, part: RegExp) =>
  Object.keys(visit.scripts).filter((one) => part.test(one));
const total_kb = (visit: Visit) =>
  Object.values(visit.scripts).reduce((sum, size) => sum + size, 0) / 1_000;

test("the first visit is quick and small; graph and diff come on demand", async ({
  browser,
  server,
  signedIn,
  repository,
}, info) => {
  info.setTimeout(120_000);
  const world = await furnish(server, repository);
  const visits: Visit[] = [];
  // The first one warms up the server and the browser, and does not count.
  for (let turn = 0; turn <= VISITS; turn++) {
    const seen = await visit(browser, server, signedIn, "/");
    if (turn > 0) visits.push(seen);
  }
  const paint = median(visits.map((one) => one.paint_ms));
  const size = median(visits.map(total_kb));
  measured(info, {
    name: "inbox: first contentful paint",
    value: paint,
    unit: "ms",
    limit: PAINT_MS,
  });
  measured(info, {
    name: "inbox: largest contentful paint",
    value: median(visits.map((one) => one.largest_ms)),
    unit: "ms",
  });
  measured(info, { name: "inbox: scripts, gzipped", value: size, unit: "kB", limit: SCRIPT_KB });
  expect(paint).toBeLessThan(PAINT_MS * TIME_SLACK);
  expect(size).toBeLessThan(SCRIPT_KB);
  expect(visits.flatMap((one) => named(one, /graph|xyflow|diff|flow\./i))).toEqual([]);

  const order = await visit(browser, server, signedIn, `/orders/${world.completed}`);
  const graph = named(order, /graph/i);
  expect(graph, "the page of an order loads the graph").not.toEqual([]);
  expect(named(order, /diff-(panel|view)/i), "but not the diff").toEqual([]);
  const changes = await visit(browser, server, signedIn, `/orders/${world.completed}?tab=changes`);
  expect(named(changes, /diff/i), "which comes with its tab").not.toEqual([]);
  measured(info, { name: "order: scripts, gzipped", value: total_kb(order), unit: "kB" });
  measured(info, { name: "order: first contentful paint", value: order.paint_ms, unit: "ms" });
});
