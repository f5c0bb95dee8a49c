/** The server is away: every page stays, says since when it is stale, and goes on by itself. */

import type { Browser, BrowserContext, Page } from "@playwright/test";
import { expect, signIn, test } from "../fixtures";
import { expectNotReloaded, mark } from "../order";
import { settled } from "../pages";
import { anOrder, RELEASE, SCRIPTS, WORKFLOWS } from "../sample";
import { Server } from "../server";

test.describe.configure({ timeout: 180_000 });

const TITLE = "Total forgets quantities";

/** A way from one page to another, whose code the browser does not have. */
interface Way {
  from: string;
  stays: string;
  go: (page: Page) => Promise<void>;
  leadsTo: RegExp;
  comes: string | RegExp;
}

const main = (page: Page) => page.locator("main");
const notice = (page: Page) => page.getByTestId("outage");
const heading = (page: Page) => page.getByRole("heading", { level: 1 });
const nav = (page: Page, name: string) =>
  page.getByRole("navigation", { name: "Main" }).getByRole("link", { name }).click();

function ways(id: string): Way[] {
  const inbox = { from: "/", stays: "Inbox" };
  return [
    {
      ...inbox,
      go: (page) => nav(page, "Work orders"),
      leadsTo: /\/orders$/,
      comes: "Work orders",
    },
    { ...inbox, go: (page) => nav(page, "Approvals"), leadsTo: /\/approvals/, comes: "Approvals" },
    { ...inbox, go: (page) => nav(page, "Workflows"), leadsTo: /\/workflows$/, comes: "Workflows" },
    { ...inbox, go: (page) => nav(page, "About"), leadsTo: /\/about$/, comes: /^About/ },
    {
      ...inbox,
      go: (page) => page.getByRole("link", { name: "New work order" }).first().click(),
      leadsTo: /\/new$/,
      comes: "New work order",
    },
    {
      from: "/orders",
      stays: "Work orders",
      go: (page) => main(page).getByRole("link", { name: TITLE }).first().click(),
      leadsTo: new RegExp(`/orders/${id}$`),
      comes: TITLE,
    },
    {
      from: "/workflows",
      stays: "Workflows",
      go: (page) => main(page).getByRole("link", { name: RELEASE }).first().click(),
      leadsTo: new RegExp(`/workflows/${RELEASE}`),
      comes: RELEASE,
    },
    {
      from: "/approvals",
      stays: "Approvals",
      go: (page) => main(page).locator("a[href^='/approvals/']").first().click(),
      leadsTo: /\/approvals\/wo-/,
      comes: /./,
    },
  ];
}

/** A browser that has seen one page. */
async function at(browser: Browser, server: Server, state: State, path: string) {
  const context = await browser.newContext({ baseURL: server.url, storageState: state });
  const page = await context.newPage();
  await page.goto(path);
  await settled(page);
  await mark(page);
  return page;
}

type State = Awaited<ReturnType<BrowserContext["storageState"]>>;

async function stateOf(browser: Browser, server: Server): Promise<State> {
  const context = await browser.newContext({ baseURL: server.url });
  await signIn(await context.newPage(), server);
  const state = await context.storageState();
  await context.close();
  return state;
}

test(
  "every page can be gone to in an outage: the old stays, the new comes",
  { tag: "@N12" },
  async ({ browser, repository }) => {
    const server = await Server.start({ workflows: WORKFLOWS });
    const pages: Page[] = [];
    try {
      const id = await server.create(anOrder(repository, TITLE, SCRIPTS.success));
      await server.reaches(id, "waiting");
      const state = await stateOf(browser, server);
      const all = ways(id);
      for (const { from } of all) pages.push(await at(browser, server, state, from));
      const one = await at(browser, server, state, `/orders/${id}`);
      pages.push(one);
      await server.kill();

      for (const [index, way] of all.entries()) {
        const page = pages[index] as Page;
        await expect(notice(page)).toContainText("The server does not answer", { timeout: 20_000 });
        await expect(notice(page)).toContainText(/as it was at \d\d:\d\d/);
        await way.go(page);
        await expect(page).toHaveURL(way.leadsTo);
        await expect(notice(page)).toContainText("opens as soon as the server is back");
        await expect(heading(page)).toHaveText(way.stays);
        await expect(page.getByText("stopped working")).toHaveCount(0);
      }
      // Whoever would rather stay does.
      const stayer = pages[0] as Page;
      await notice(stayer).getByRole("button", { name: "Stay here" }).click();
      await expect(stayer).toHaveURL(`${server.url}/`);
      await expect(notice(stayer)).toContainText("goes on by itself");
      await nav(stayer, "Work orders");

      // The parts of a page.
      for (const tab of ["Changes", "Transcript", "Logs", "Tests", "Artifacts", "Cost"]) {
        await one.getByRole("tab", { name: tab, exact: true }).click();
        await expect(one.getByRole("tabpanel")).toContainText("could not be loaded yet");
        await expect(heading(one)).toContainText(TITLE);
      }
      await one.keyboard.press("Control+k");
      await one.keyboard.type("refunds");
      await expect(one.getByRole("combobox")).toHaveValue("refunds");
      await expect(one.getByText("Work orders could not be searched.")).toBeVisible();
      await one.keyboard.press("Escape");
      await expect(heading(one)).toContainText(TITLE);

      await server.up();
      for (const [index, way] of all.entries()) {
        const page = pages[index] as Page;
        await expect(heading(page)).toHaveText(way.comes, { timeout: 20_000 });
        await expect(page).toHaveURL(way.leadsTo);
        await expect(notice(page)).toHaveCount(0);
        await settled(page);
        await expect(page.getByText(/does not answer/), String(way.comes)).toHaveCount(0);
        await expectNotReloaded(page);
      }
      for (const tab of ["Cost", "Artifacts", "Tests", "Logs", "Transcript", "Changes"]) {
        await one.getByRole("tab", { name: tab, exact: true }).click();
        await settled(one);
        await expect(one.getByRole("tabpanel")).not.toContainText("could not be loaded");
      }
      await expect(one.getByTestId("diff-lines")).toContainText("price * quantity");
      await expectNotReloaded(one);
    } finally {
      for (const page of pages) await page.context().close();
      await server.stop();
    }
  },
);

test(
  "another version of the server is told of, and nothing typed is lost",
  { tag: "@N12" },
  async ({ page, watch }) => {
    watch.allow(/Failed to load resource|ERR_FAILED/);
    await page.goto("/");
    await settled(page);
    await page.route("**/assets/*.js", (route) => route.fulfill({ status: 404, body: "" }));
    await nav(page, "Workflows");
    await expect(page.getByText("The server was updated.")).toBeVisible({ timeout: 20_000 });
    await expect(heading(page)).toHaveText("Inbox");
    await page.unroute("**/assets/*.js");
    await page.getByRole("button", { name: "Load anew" }).click();
    await expect(heading(page)).toHaveText("Workflows");
  },
);
