/** The page of one order, in the words of who uses it. */

import { expect, type Locator, type Page } from "@playwright/test";

export class OrderView {
  constructor(readonly page: Page) {}

  async open(id: string, tab?: string): Promise<void> {
    await this.page.goto(`/orders/${id}${tab ? `?tab=${tab}` : ""}`);
    await expect(this.page.getByRole("heading", { level: 1 })).toBeVisible();
  }

  get id(): string {
    const found = /\/orders\/(wo-[a-z2-7]{16})/.exec(this.page.url());
    if (!found?.[1]) throw new Error(`no order's page: ${this.page.url()}`);
    return found[1];
  }

  /** The word of the order's state, beside its name. */
  async hasState(word: string): Promise<void> {
    const badge = this.page.locator("main header").getByText(word, { exact: true });
    await expect(badge).toBeVisible({ timeout: 20_000 });
  }

  button(name: string): Locator {
    return this.page.locator("main").getByRole("button", { name, exact: true }).first();
  }

  task(path: string): Locator {
    return this.page.locator(`[data-task="${path}"]`);
  }

  async taskIs(path: string, word: string): Promise<void> {
    await expect(this.task(path)).toContainText(word, { timeout: 20_000 });
  }

  async showTab(name: string): Promise<void> {
    await this.page.getByRole("tab", { name, exact: true }).click();
  }

  /** From now on, every state that the graph shows for a task, in order, is remembered. */
  async recordGraph(): Promise<void> {
    await this.page.evaluate(() => {
      const seen: Record<string, string[]> = {};
      (window as unknown as { __graph: typeof seen }).__graph = seen;
      const note = () => {
        for (const node of document.querySelectorAll<HTMLElement>("[data-task]")) {
          const states = (seen[node.dataset["task"] ?? ""] ??= []);
          const word = node.dataset["state"] ?? node.innerText;
          if (states.at(-1) !== word) states.push(word);
        }
      };
      note();
      new MutationObserver(note).observe(document.body, {
        subtree: true,
        childList: true,
        attributes: true,
        characterData: true,
      });
    });
  }

  graphHistory(): Promise<Record<string, string[]>> {
    return this.page.evaluate(
      () => (window as unknown as { __graph: Record<string, string[]> }).__graph,
    );
  }
}

/** A mark that a reload would take away. */
export async function mark(page: Page): Promise<void> {
  await page.evaluate(() => Object.assign(window, { __kept: true }));
}

export async function expectNotReloaded(page: Page): Promise<void> {
  expect(await page.evaluate(() => "__kept" in window), "the page was not reloaded").toBe(true);
}
