/**
 * A test gets a signed-in page of a running server, and fails when the page said anything to the
 * console, threw, opened a dialog, or asked anybody but its own server.
 */

import { test as base, expect, type BrowserContext, type Page } from "@playwright/test";
import { rmSync } from "node:fs";
import { Server, temporaryFolder } from "./server";
import { sampleRepository, WORKFLOWS } from "./sample";

export interface Watch {
  /** What was seen and is wrong. */
  readonly troubles: string[];
  note(text: string): void;
  /** For a test that makes such a trouble itself. */
  allow(pattern: RegExp): void;
}

type StorageState = Awaited<ReturnType<BrowserContext["storageState"]>>;

interface TestFixtures {
  watch: Watch;
}

interface WorkerFixtures {
  server: Server;
  repository: string;
  /** Cookies of a browser that came through the link. */
  signedIn: StorageState;
}

export const test = base.extend<TestFixtures, WorkerFixtures>({
  server: [
    async ({}, use) => {
      const server = await Server.start({ workflows: WORKFLOWS });
      await use(server);
      await server.stop();
    },
    { scope: "worker", timeout: 90_000 },
  ],
  repository: [
    async ({}, use) => {
      const folder = temporaryFolder("repository");
      await use(sampleRepository(folder));
      rmSync(folder, { recursive: true, force: true });
    },
    { scope: "worker" },
  ],
  signedIn: [
    async ({ browser, server }, use) => {
      const context = await browser.newContext();
      const page = await context.newPage();
      await signIn(page, server);
      const state = await context.storageState();
      await context.close();
      await use(state);
    },
    { scope: "worker" },
  ],
  storageState: async ({ signedIn }, use) => use(signedIn),
  baseURL: async ({ server }, use) => use(server.url),
  watch: async ({}, use) => {
    const allowed: RegExp[] = [];
    const seen: string[] = [];
    await use({
      note: (text) => seen.push(text),
      get troubles() {
        return seen.filter((text) => !allowed.some((pattern) => pattern.test(text)));
      },
      allow: (pattern) => allowed.push(pattern),
    });
  },
  // Every test that has a page is watched, whether it asks for the watch or not.
  context: async ({ context, baseURL, watch }, use) => {
    const { note } = watch;
    context.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) note(`console: ${message.text()}`);
    });
    context.on("weberror", (error) => note(`thrown: ${error.error().stack}`));
    context.on("dialog", (dialog) => {
      note(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    context.on("request", (request) => {
      const url = request.url();
      const own = url.startsWith(`${baseURL}/`) || /^(data|blob|about):/.test(url);
      if (!own) note(`request to elsewhere: ${url}`);
    });
    await use(context);
    expect(watch.troubles, "what the page complained about").toEqual([]);
  },
});

export async function signIn(page: Page, server: Server): Promise<void> {
  await page.goto(await server.freshLink());
  await expect(page).not.toHaveURL(/sign-in/);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
}

export { expect };
