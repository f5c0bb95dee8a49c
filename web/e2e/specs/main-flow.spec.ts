/** The way of one order: asked for, watched, approved, read, done. By mouse, then by keyboard. */

import type { Page } from "@playwright/test";
import { expect, test } from "../fixtures";
import { expectNotReloaded, mark, OrderView } from "../order";
import { Gate, git, RELEASE, WORKFLOWS } from "../sample";

test.describe.configure({ timeout: 90_000 });

/** What the graph has shown while the page was open. */
async function expectWatched(view: OrderView): Promise<void> {
  const history = await view.graphHistory();
  expect(history["plan"]).toEqual(["Running", "Succeeded"]);
  expect(history["build"]?.at(0)).toBe("Pending");
  expect(history["build"]).toContain("Running");
  expect(history["build"]?.at(-1)).toBe("Succeeded");
  expect(history["publish"]).toContain("Needs approval");
}

test("by mouse: new order, live graph, approval, diff, completed", async ({
  page,
  server,
  repository,
}) => {
  const gate = new Gate();
  await page.goto("/");
  await mark(page);
  await page.getByRole("link", { name: "New work order" }).first().click();
  await page.getByLabel("Repository").fill(repository);
  await page.getByRole("button", { name: "Check" }).click();
  await expect(page.getByText(/The server can read/)).toBeVisible();
  await page.getByLabel("What should be done?").fill("Total forgets quantities");
  await page.getByLabel("Workflow", { exact: true }).selectOption(RELEASE);
  await page.getByLabel("Agent", { exact: true }).selectOption("scripted");
  await page.getByLabel("Script").fill(gate.script);
  await page.getByRole("button", { name: "Create work order" }).click();

  const view = new OrderView(page);
  await expect(page).toHaveURL(/\/orders\/wo-/);
  await view.taskIs("plan", "Running");
  await view.recordGraph();
  gate.open("plan");
  await view.taskIs("build", "Running");
  gate.open("build");
  await view.taskIs("publish", "Needs approval");
  await view.hasState("Waiting");

  // From the inbox, as somebody else would find it.
  const question = page.getByRole("region", { name: "Approval asked for" });
  await expect(question).toContainText("Publish the branch?");
  await expectWatched(view);
  const id = view.id;
  await page.getByRole("link", { name: /Inbox/ }).first().click();
  await expect(page.getByText("Total forgets quantities").first()).toBeVisible();
  await page.goBack();
  await question.getByLabel("Comment").fill("Looks right to me.");
  await question.getByRole("button", { name: "Approve" }).click();
  await view.hasState("Completed");

  await view.showTab("Changes");
  const diff = page.getByTestId("diff-lines");
  await expect(diff).toContainText("basket.py");
  await expect(diff).toContainText("sum(price * quantity for _, price, quantity in self.items)");
  await expectNotReloaded(page);

  // What the page says is so.
  const order = await server.order(id);
  expect(order.status).toBe("completed");
  expect(git(repository, "show", `${order.git_branch_name}:basket.py`)).toContain("price * quantity");
  const { approvals } = await server.ask<{ approvals: { comment: string; state: string }[] }>(
    "GET",
    `/api/agent-work-orders/${id}/approvals`,
  );
  expect(approvals[0]).toMatchObject({ state: "approved", comment: "Looks right to me." });
});

/** Tab until the wanted thing has the focus; where a keyboard cannot get to, the test fails. */
async function tabTo(page: Page, role: string, name: string | RegExp): Promise<void> {
  const wanted = page
    .getByRole(role as Parameters<Page["getByRole"]>[0], { name, exact: typeof name === "string" })
    .filter({ visible: true })
    .first();
  await expect(wanted).toBeVisible();
  for (let press = 0; press < 80; press++) {
    if (await wanted.evaluate((element) => element === document.activeElement)) {
      await expectFocusSeen(page, `${role} ${String(name)}`);
      return;
    }
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab does not reach ${role} ${String(name)}`);
}

/** Whoever uses the keyboard sees where they are. */
async function expectFocusSeen(page: Page, what: string): Promise<void> {
  const seen = await page.evaluate(() => {
    let element: Element | null = document.activeElement;
    // A frame around the control counts as well.
    for (let level = 0; element && level < 3; level++, element = element.parentElement) {
      for (const part of [null, "::before", "::after"]) {
        const style = getComputedStyle(element, part);
        if (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0) return true;
        if (style.boxShadow !== "none") return true;
      }
    }
    return false;
  });
  expect(seen, `the focus is seen on ${what}`).toBe(true);
}

test("by keyboard alone: the same, without a mouse", async ({ page, server, repository }) => {
  const gate = new Gate();
  await page.goto("/");
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  // The shortcuts are listed under `?`.
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog")).toContainText("Keyboard shortcuts");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toBeHidden();
  await page.keyboard.press("n");
  await expect(page.getByRole("heading", { level: 1, name: "New work order" })).toBeVisible();

  await tabTo(page, "textbox", /^Repository/);
  await page.keyboard.insertText(repository);
  await tabTo(page, "textbox", /^What should be done/);
  await page.keyboard.insertText("Total forgets quantities, by keyboard");
  await tabTo(page, "combobox", /^Workflow/);
  await choose(page, RELEASE);
  await tabTo(page, "combobox", /^Agent/);
  await choose(page, "scripted");
  await tabTo(page, "textbox", /^Script/);
  await page.keyboard.insertText(gate.script);
  await page.keyboard.press("Control+Enter");

  await expect(page).toHaveURL(/\/orders\/wo-/);
  const view = new OrderView(page);
  await view.taskIs("plan", "Running");
  await view.recordGraph();
  // Look at a task from the graph.
  await tabTo(page, "button", /^plan Running/);
  await page.keyboard.press("Enter");
  await expect(view.task("plan")).toHaveAttribute("aria-pressed", "true");
  gate.open("plan");
  await view.taskIs("build", "Running");
  gate.open("build");
  await view.taskIs("publish", "Needs approval");
  await tabTo(page, "button", "Approve");
  await page.keyboard.press("Enter");
  await view.hasState("Completed");
  await expectWatched(view);

  await page.keyboard.press("Shift+Tab");
  await tabTo(page, "tab", "Overview");
  await page.keyboard.press("ArrowRight");
  await expect(page.getByTestId("diff-lines")).toContainText("price * quantity");

  // The palette leads anywhere.
  await page.keyboard.press("Control+k");
  await expect(page.getByRole("dialog")).toBeVisible();
  await page.keyboard.type("approvals");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1, name: "Approvals" })).toBeVisible();
  await page.keyboard.press("g");
  await page.keyboard.press("o");
  await expect(page.getByRole("heading", { level: 1, name: "Work orders" })).toBeVisible();
  await tabTo(page, "link", /by keyboard/);
  await page.keyboard.press("Enter");
  await view.hasState("Completed");
  expect((await server.order(view.id)).status).toBe("completed");
});

/** By its letters, as a person would in a list. */
async function choose(page: Page, option: string): Promise<void> {
  await page.keyboard.type(option);
  const chosen = () =>
    page.evaluate(() => (document.activeElement as HTMLSelectElement | null)?.value);
  await expect.poll(chosen).toBe(option);
}

test("the form is made from the workflow's inputs", async ({ page, server, repository }) => {
  await page.goto("/new?workflow=greet-people");
  expect(Object.keys(WORKFLOWS)).toContain("greet-people");
  await page.getByLabel("Repository").fill(repository);
  await page.getByLabel("greeting").fill("Good morning");
  await page.getByLabel("tone").selectOption("loud");
  await page.getByLabel("times").fill("3");
  await page.getByLabel("Agent", { exact: true }).selectOption("scripted");
  await page.getByLabel("Script").fill("version: 1\ndefault: [{text: Hello}]\n");
  await page.getByRole("button", { name: "Create work order" }).click();
  await expect(page).toHaveURL(/\/orders\/wo-/);
  const view = new OrderView(page);
  await view.hasState("Completed");
  // A fan-out is one node, until it is unfolded.
  await expect(view.task("greet")).toBeVisible();
  await page.getByRole("button", { name: "Unfold greet" }).click();
  await expect(view.task("greet[1]")).toContainText("Succeeded");
  expect((await server.order(view.id)).status).toBe("completed");
});

test("a form that cannot be sent says why, beside the field", async ({ page, watch }) => {
  watch.allow(/Failed to load resource/);
  await page.goto("/new");
  await page.getByRole("button", { name: "Create work order" }).click();
  await expect(page.locator("[aria-invalid=true]").first()).toBeFocused();
  await page.getByLabel("Repository").fill("/nowhere/at/all");
  await page.getByRole("button", { name: "Check" }).click();
  await expect(page.getByText(/nowhere/).first()).toBeVisible();
});
