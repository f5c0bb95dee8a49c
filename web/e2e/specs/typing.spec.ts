/** People type before a page or the palette is ready. What they type steers nothing, and what was
 * meant for the palette is in it. */

import type { Browser, BrowserContext, Page } from "@playwright/test";
import { expect, test } from "../fixtures";
import { anOrder, failsOnce, SCRIPTS, sharedFolder } from "../sample";
import type { Server } from "../server";

test.describe.configure({ timeout: 120_000 });

/** Milliseconds between two keys: a program, quick hands, slow hands. */
const CADENCES = [0, 20, 60, 120];
/** Each begins with, and is full of, letters that are shortcuts on some page. */
const TEXTS = ["payments", "refunds", "xp cjk", "go n."];

type State = Awaited<ReturnType<BrowserContext["storageState"]>>;

interface Orders {
  running: string;
  failed: string;
}

let orders: Orders;

test.beforeAll(async ({ server, repository }) => {
  const [running, failed] = await Promise.all([
    server.create(anOrder(repository, "Typed at", SCRIPTS.endless)),
    server.create(anOrder(repository, "Typed at, and failed", failsOnce(sharedFolder()))),
  ]);
  await server.reaches(running, "running");
  await server.reaches(failed, "failed");
  orders = { running, failed };
});

test.afterAll(async ({ server }) => {
  await server.ask("POST", `/api/agent-work-orders/${orders.running}/cancel`);
});

/** A browser that has nothing of ours but the cookie, and what it asks the server to change. */
async function cold(browser: Browser, server: Server, storageState: State) {
  const context = await browser.newContext({ storageState, baseURL: server.url });
  const page = await context.newPage();
  const writes: string[] = [];
  page.on("request", (request) => {
    if (request.method() !== "GET") writes.push(`${request.method()} ${request.url()}`);
  });
  return { page, writes, close: () => context.close() };
}

const field = (page: Page) => page.getByRole("combobox", { name: /^Search work orders/ });

const PAGES: { name: string; path: () => string }[] = [
  { name: "an order at work", path: () => `/orders/${orders.running}` },
  { name: "an order that failed", path: () => `/orders/${orders.failed}` },
  { name: "the inbox", path: () => "/" },
  { name: "the list", path: () => "/orders" },
];

async function expectUntouched(server: Server, page: Page, path: string, writes: string[]) {
  expect(new URL(page.url()).pathname, "nobody went anywhere").toBe(path);
  await expect(page.getByRole("alertdialog"), "nothing is asked").toHaveCount(0);
  expect(writes, "nothing was steered").toEqual([]);
  expect((await server.order(orders.running)).status).toBe("running");
  expect((await server.order(orders.failed)).status).toBe("failed");
}

for (const { name, path } of PAGES) {
  test(
    `the palette takes every key, on ${name} that has just come`,
    { tag: "@N12" },
    async ({ browser, server, signedIn }) => {
      for (const [at, delay] of CADENCES.entries()) {
        const text = TEXTS[at % TEXTS.length] ?? "";
        const { page, writes, close } = await cold(browser, server, signedIn);
        await page.goto(path());
        await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
        await page.keyboard.press("Control+k");
        await page.keyboard.type(text, { delay });
        await expect(field(page), `${delay} ms`).toHaveValue(text);
        await expect(field(page)).toBeFocused();
        await expectUntouched(server, page, path(), writes);
        await close();
      }
    },
  );

  test(
    `and on ${name} whose code is still on its way`,
    { tag: "@N12" },
    async ({ browser, server, signedIn }) => {
      for (const [at, delay] of CADENCES.entries()) {
        const text = TEXTS[(at + 1) % TEXTS.length] ?? "";
        const { page, writes, close } = await cold(browser, server, signedIn);
        // Slow enough that keys are pressed before and after it comes.
        await page.route("**/assets/*.js", async (route) => {
          await new Promise((resolve) => setTimeout(resolve, 200));
          await route.continue();
        });
        await page.goto(path(), { waitUntil: "commit" });
        await page.locator("#root").waitFor({ state: "attached" });
        await page.keyboard.press("Control+k");
        await page.keyboard.type(text, { delay });
        await expect(field(page), `${delay} ms`).toHaveValue(text);
        await expect(field(page)).toBeFocused();
        await page.unrouteAll({ behavior: "wait" });
        await expectUntouched(server, page, path(), writes);
        await close();
      }
    },
  );

  test(
    `without the palette, typing at ${name} that loads does nothing`,
    { tag: "@N12" },
    async ({ browser, server, signedIn }) => {
      for (const delay of CADENCES) {
        const { page, writes, close } = await cold(browser, server, signedIn);
        await page.route("**/api/agent-work-orders**", async (route) => {
          await new Promise((resolve) => setTimeout(resolve, 150));
          await route.continue();
        });
        await page.goto(path(), { waitUntil: "commit" });
        await page.keyboard.type("prints x. new job, go on: rp", { delay });
        await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
        await page.unrouteAll({ behavior: "wait" });
        await expect(page.getByRole("dialog")).toHaveCount(0);
        await expect(page.getByRole("menu")).toHaveCount(0);
        await expectUntouched(server, page, path(), writes);
        await close();
      }
    },
  );
}

test(
  "what is typed into a field that goes away steers nothing",
  { tag: "@N12" },
  async ({ page, server, repository }) => {
    const id = await server.create(anOrder(repository, "Loses its field", SCRIPTS.endless));
    await server.reaches(id, "running");
    const writes: string[] = [];
    page.on("request", (request) => {
      if (request.method() !== "GET") writes.push(`${request.method()} ${request.url()}`);
    });
    await page.goto(`/orders/${id}`);
    const prompt = page.getByRole("textbox", { name: "Prompt" });
    await prompt.focus();
    await page.keyboard.type("Please ");
    await server.ask("POST", `/api/agent-work-orders/${id}/cancel`);
    // On and on, while the order ends and the field with it: `r` would retry it.
    await expect(async () => {
      await page.keyboard.type("r", { delay: 60 });
      expect(await prompt.count()).toBe(0);
    }).toPass({ intervals: [0] });
    await page.keyboard.type("rerun, or remove, or pray", { delay: 30 });
    expect(writes).toEqual([]);
    await expect(page.getByRole("alertdialog")).toHaveCount(0);
    expect((await server.order(id)).status).toBe("cancelled");
  },
);

test("keys that are meant for a page that is there still work", async ({ page, server }) => {
  await page.goto(`/orders/${orders.running}`);
  await expect(page.locator("[data-task=plan]")).toContainText("Succeeded");
  await expect(page.locator("[aria-busy=true], [data-loading]")).toHaveCount(0);
  await page.keyboard.press("x");
  await expect(page.getByRole("alertdialog")).toContainText("Cancel this order?");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("alertdialog")).toHaveCount(0);
  await page.keyboard.press("g");
  await page.keyboard.press("o");
  await expect(page.getByRole("heading", { level: 1, name: "Work orders" })).toBeVisible();
  expect((await server.order(orders.running)).status).toBe("running");
});
