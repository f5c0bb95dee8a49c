/** Many tabs of one browser: they share one stream, since six connections are all they have. */

import type { BrowserContext, Locator, Page } from "@playwright/test";
import { expect, test } from "../fixtures";
import { expectNotReloaded, mark, OrderView } from "../order";
import { anOrder, Gate } from "../sample";

test.describe.configure({ timeout: 240_000 });

const TABS = 8;

/** Which pages hold a stream at present. */
class Streams {
  readonly open = new Map<object, Page>();

  constructor(context: BrowserContext) {
    const isStream = (url: string) => new URL(url).pathname === "/api/events";
    context.on("request", (request) => {
      if (isStream(request.url())) this.open.set(request, request.frame().page());
    });
    context.on("requestfinished", (request) => void this.open.delete(request));
    context.on("requestfailed", (request) => void this.open.delete(request));
  }

  /** The page that has it, once there is exactly one. */
  async leader(): Promise<Page> {
    await expect.poll(() => this.pages().length, { timeout: 20_000 }).toBe(1);
    return this.pages()[0] as Page;
  }

  private pages(): Page[] {
    return [...this.open.values()].filter((page) => !page.isClosed());
  }
}

async function openTabs(context: BrowserContext, id: string, count: number): Promise<OrderView[]> {
  const views: OrderView[] = [];
  for (let n = 0; n < count; n++) {
    const view = new OrderView(await context.newPage());
    await view.open(id);
    await mark(view.page);
    views.push(view);
  }
  return views;
}

const live = (page: Page) => page.getByTestId("live-state").filter({ visible: true });

/** The status of an answer; without a free connection there is none. */
function asks(page: Page): Promise<number> {
  return page.evaluate(async () => {
    const options: RequestInit = { cache: "no-store", signal: AbortSignal.timeout(20_000) };
    return (await fetch("/healthz", options)).status;
  });
}

async function allShow(views: OrderView[], task: string, word: string): Promise<void> {
  await Promise.all(views.map((view) => view.taskIs(task, word)));
}

test("eight visible tabs are live, can ask, and outlive the one that leads", async ({
  context,
  server,
  repository,
}) => {
  const gate = new Gate();
  const id = await server.create(anOrder(repository, "Watched by many", gate.script));
  const streams = new Streams(context);
  let views = await openTabs(context, id, TABS);
  await Promise.all(views.map(({ page }) => expect(live(page)).toHaveAttribute("data-state", "live")));
  await allShow(views, "plan", "Running");
  const first = await streams.leader();

  gate.open("plan");
  await allShow(views, "build", "Running");
  // Every one of them can still ask, all at the same time.
  expect(await Promise.all(views.map(({ page }) => asks(page)))).toEqual(views.map(() => 200));

  await first.close();
  views = views.filter(({ page }) => page !== first);
  expect(views).toHaveLength(TABS - 1);
  await streams.leader();
  gate.open("build");
  await allShow(views, "publish", "Needs approval");
  const [acting, ...watching] = views;
  await acting?.page.getByRole("button", { name: "Approve" }).click();
  await Promise.all(watching.map((view) => view.hasState("Completed")));
  for (const { page } of views) {
    await expect(live(page)).toHaveAttribute("data-state", "live");
    await expectNotReloaded(page);
  }
});

test("a leader that stands still loses the lead, and follows when it goes on", async ({
  context,
  server,
  repository,
}) => {
  const gate = new Gate();
  const id = await server.create(anOrder(repository, "Led by another", gate.script));
  const streams = new Streams(context);
  const views = await openTabs(context, id, 2);
  await allShow(views, "plan", "Running");
  const leader = await streams.leader();
  const [still, other] = views[0]?.page === leader ? views : [...views].reverse();
  const devtools = await context.newCDPSession(leader);
  await devtools.send("Page.setWebLifecycleState", { state: "frozen" });
  gate.open("plan");
  // Its silence is noticed after a while; whoever asks then and gets no answer takes the lead.
  await expect(other?.task("build") as Locator).toContainText("Running", { timeout: 90_000 });
  await expect(live((other as OrderView).page)).toHaveAttribute("data-state", "live", {
    timeout: 90_000,
  });
  await devtools.send("Page.setWebLifecycleState", { state: "active" });
  gate.open("build");
  await allShow([still, other] as OrderView[], "publish", "Needs approval");
  await server.ask("POST", `/api/agent-work-orders/${id}/cancel`);
});

test("signing out in one tab ends it in all", async ({ browser, server }) => {
  const storageState = { cookies: [], origins: [] };
  const context = await browser.newContext({ baseURL: server.url, storageState });
  const pages = [await context.newPage(), await context.newPage(), await context.newPage()];
  await pages[0]?.goto(await server.freshLink());
  await expect(pages[0] as Page).not.toHaveURL(/sign-in/);
  for (const page of pages) {
    await page.goto("/orders");
    await expect(live(page)).toHaveAttribute("data-state", "live");
  }
  await pages[1]?.getByRole("button", { name: /signed in as/ }).first().click();
  await pages[1]?.getByRole("menuitem", { name: "Sign out" }).click();
  await Promise.all(pages.map((page) => expect(page).toHaveURL(/sign-in/, { timeout: 20_000 })));
  await context.close();
});
