/**
 * Every page, photographed in both themes and on a phone: full, empty and in error; examined by
 * all of axe's rules in both themes, in forced colours and on the phone; never wider than that.
 */

import AxeBuilder from "@axe-core/playwright";
import axe from "axe-core";
import type { BrowserContext, Page, TestInfo } from "@playwright/test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, signIn, test } from "../fixtures";
import { photographed, type Shot } from "../measures";
import {
  drawn,
  furnish,
  NOWHERE,
  PLACES,
  settled,
  sideways,
  type Place,
  type World,
} from "../pages";
import { SCREENSHOTS } from "../paths";
import { Server } from "../server";

const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };

test.describe.configure({ timeout: 120_000, mode: "parallel" });
// Pictures are the trace of these.
test.use({ contextOptions: { reducedMotion: "reduce" }, trace: "off" });

async function shoot(page: Page, info: TestInfo, shot: Omit<Shot, "file">): Promise<void> {
  const file = `${shot.page}-${shot.state}-${shot.viewport}-${shot.theme}.png`;
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, file) });
  photographed(info, { ...shot, file });
}

/** Every rule that axe has: also those that are off or experimental unless they are asked for. */
const EVERY_RULE = axe.getRules().map(({ ruleId }) => ruleId);

async function examine(page: Page, what: string): Promise<void> {
  const { violations } = await new AxeBuilder({ page })
    // Radix's own, around an open layer: nobody perceives them, and who tabs into one is moved on.
    .exclude("[data-radix-focus-guard]")
    .withRules(EVERY_RULE)
    .analyze();
  const found = violations.map(({ id, help, nodes }) => ({
    rule: `${id}: ${help}`,
    nodes: nodes.length,
    where: nodes.slice(0, 5).map((node) => `${node.target.join(" ")} ${node.failureSummary}`),
  }));
  expect.soft(found, `axe, ${what}`).toEqual([]);
}

/** Both themes and the phone, from one load of the page. */
async function look(
  page: Page,
  info: TestInfo,
  place: Pick<Place, "name">,
  state: Shot["state"],
  ready = settled,
): Promise<void> {
  for (const theme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: theme });
    await ready(page);
    await shoot(page, info, { page: place.name, theme, viewport: "desktop", state });
    await examine(page, `${place.name} ${state} ${theme}`);
  }
  await page.emulateMedia({ colorScheme: "light", forcedColors: "active" });
  await ready(page);
  await examine(page, `${place.name} ${state} forced colours`);
  await page.emulateMedia({ forcedColors: "none" });
  await page.setViewportSize(PHONE);
  await ready(page);
  await shoot(page, info, { page: place.name, theme: "light", viewport: "phone", state });
  expect.soft(await sideways(page), `${place.name} ${state} scrolls sideways`).toBe(0);
  await examine(page, `${place.name} ${state} phone`);
  await page.setViewportSize(DESKTOP);
}

test.describe("full", () => {
  let world: World;
  test.beforeAll(async ({ server, repository }) => {
    world = await furnish(server, repository);
  });

  for (const place of PLACES) {
    test(place.name, async ({ page }, info) => {
      await page.goto(place.path(world));
      await look(page, info, place, "full");
    });
  }

  for (const place of PLACES.filter((one) => !one.noError)) {
    test(`${place.name} in error`, async ({ page, watch }, info) => {
      watch.allow(/Failed to load resource/); // Chromium's own note of the answer below.
      await failEverything(page, place);
      await page.goto(place.path(world));
      await expect(page.getByRole("alert").first()).toBeVisible({ timeout: 20_000 });
      await look(page, info, place, "error");
    });
  }
});

test.describe("over a page", () => {
  let world: World;
  test.beforeAll(async ({ server, repository }) => {
    world = await furnish(server, repository);
  });

  const layers: { name: string; open: (page: Page) => Promise<void> }[] = [
    { name: "palette", open: (page) => page.keyboard.press("Control+k") },
    { name: "shortcuts", open: (page) => page.keyboard.press("?") },
    { name: "question", open: (page) => page.keyboard.press("x") },
    { name: "menu", open: (page) => page.keyboard.press(".") },
  ];
  for (const { name, open } of layers) {
    test(`the ${name}`, async ({ page }, info) => {
      await page.goto(`/orders/${world.running}`);
      await settled(page);
      await open(page);
      await expect(page.locator("[role=dialog], [role=alertdialog], [role=menu]")).toBeVisible();
      await look(page, info, { name }, "full", drawn);
    });
  }

  test("the notice of an outage", async ({ page, watch }, info) => {
    watch.allow(/Failed to load resource|ERR_/);
    await page.goto("/");
    await settled(page);
    await page.route(/\/(api|healthz|status)(\/|$|\?)/, (route) => route.abort());
    await page.getByRole("link", { name: "About" }).first().click();
    await expect(page.getByTestId("outage")).toBeVisible({ timeout: 20_000 });
    await look(page, info, { name: "outage" }, "full", drawn);
  });
});

async function failEverything(page: Page, place: Place): Promise<void> {
  // A refusal is shown at once; what another moment may change is asked again first.
  const problem = {
    type: "urn:agent-work-orders:problem:role_insufficient",
    title: "Forbidden",
    status: 403,
    detail: "This key may not read work orders",
    code: "role_insufficient",
    hint: "Ask an administrator for a key with the role viewer.",
    request_id: "req-e2eaaaaaaaaaaaaa",
  };
  await page.route(/^[a-z]+:\/\/[^/]+\/(api\/(?!session|events)|status$)/, (route) => {
    if (place.tab && /\/agent-work-orders\/wo-[a-z2-7]+$/.test(route.request().url())) {
      return route.continue();
    }
    return route.fulfill({
      status: problem.status,
      contentType: "application/problem+json",
      body: JSON.stringify(problem),
    });
  });
}

test.describe("empty", () => {
  let bare: Server;
  let visitor: BrowserContext;
  test.beforeAll(async ({ browser }) => {
    bare = await Server.start();
    visitor = await browser.newContext({ reducedMotion: "reduce", viewport: DESKTOP });
    await signIn(await visitor.newPage(), bare);
  });
  test.afterAll(async () => {
    await visitor.close();
    await bare.stop();
  });

  for (const place of PLACES.filter((one) => one.empty)) {
    test(`${place.name} of a new server`, async ({}, info) => {
      const page = visitor.pages()[0] ?? (await visitor.newPage());
      await page.goto(bare.url + place.path(NOWHERE));
      await look(page, info, place, "empty");
    });
  }

  for (const name of ["order-completed", "workflow", "approval"]) {
    const place = PLACES.find((one) => one.name === name);
    test(`${name} that is not there`, async ({}, info) => {
      if (!place) throw new Error(`no page is called ${name}`);
      const page = visitor.pages()[0] ?? (await visitor.newPage());
      await page.goto(bare.url + place.path(NOWHERE));
      await look(page, info, place, "empty");
    });
  }
});
