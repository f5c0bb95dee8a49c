/** Agents, branches and workflows whose words want to be a page: they are shown, and stay words. */

import type { Page } from "@playwright/test";
import { expect, test } from "../fixtures";
import {
  HOSTILE_BRANCH,
  HOSTILE_FILE,
  HOSTILE_TITLE,
  HOSTILE_WORKFLOW,
  HOSTILE_WORKFLOWS,
  hostileAgent,
  PAYLOADS,
} from "../hostile";
import { settled, sideways } from "../pages";
import { git } from "../sample";

test.describe.configure({ timeout: 90_000 });

/** Nothing ran, nothing was added to the page, nothing points anywhere but home. */
async function expectOnlyText(page: Page): Promise<void> {
  const found = await page.evaluate(() => {
    const own = window.location.origin;
    const links = [...document.querySelectorAll("a[href], form[action]")]
      .map((element) => element.getAttribute("href") ?? element.getAttribute("action") ?? "")
      .filter((href) => !new URL(href, own).protocol.startsWith("http"));
    const added = [...document.querySelectorAll("iframe, object, embed, base, img, main style, script")]
      .filter((element) => !(element as HTMLScriptElement).src?.startsWith(`${own}/`))
      .map((element) => element.outerHTML.slice(0, 200));
    const handlers = [...document.querySelectorAll("*")]
      .filter((element) => element.getAttributeNames().some((name) => name.startsWith("on")))
      .map((element) => element.outerHTML.slice(0, 200));
    const title = document.title;
    return { pwned: "__pwned" in window, links, added, handlers, title };
  });
  expect(found).toMatchObject({ pwned: false, links: [], added: [], handlers: [] });
  expect(found.title).not.toContain("\u202E");
  expect(found.title).not.toBe("pwned title");
}

/** No raw control or bidi character reaches the screen. */
async function expectTame(page: Page): Promise<void> {
  const text = await page.locator("body").innerText();
  expect(text).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\u202a-\u202e\u2066-\u2069]/);
}

test("an agent's words stay words, wherever they are shown", async ({
  page,
  server,
  repository,
}) => {
  server.addWorkflows(HOSTILE_WORKFLOWS);
  const id = await server.create({
    repository_url: repository,
    workflow_type: HOSTILE_WORKFLOW,
    title: HOSTILE_TITLE,
    initial_prompt: Object.values(PAYLOADS).join("\n").replaceAll("\b", "").slice(0, 60_000),
    inputs: { word: PAYLOADS.script },
    agent: hostileAgent(),
  });
  await server.reaches(id, "waiting");

  await page.goto(`/orders/${id}`);
  await settled(page);
  await expect(page.getByRole("heading", { level: 1 })).toContainText("<img src=x onerror=");
  await expect(page.getByRole("region", { name: "Approval asked for" })).toContainText(
    "javascript:window.__pwned=1",
  );
  for (const tab of ["changes", "transcript", "logs", "tests", "artifacts", "cost"]) {
    await page.goto(`/orders/${id}?tab=${tab}`);
    await settled(page);
    await expectOnlyText(page);
    await expectTame(page);
    expect(await sideways(page), `${tab} scrolls sideways`).toBe(0);
  }

  await page.goto(`/orders/${id}?tab=transcript`);
  const transcript = page.getByTestId("transcript");
  await page.getByRole("searchbox").fill("<script>");
  await expect(transcript.getByText(PAYLOADS.script).first()).toBeVisible();
  await page.getByRole("searchbox").fill("a bomb");
  await expect(transcript.getByText("a bomb").first()).toBeVisible();
  await expectOnlyText(page);
  await expectTame(page);

  await page.goto(`/orders/${id}?tab=changes`);
  await expect(page.getByTestId("diff-lines")).toContainText(HOSTILE_FILE);
  await expectOnlyText(page);

  for (const path of ["/", "/orders", "/approvals", `/approvals/${id}:publish:1`, "/workflows"]) {
    await page.goto(path);
    await settled(page);
    await expect(page.locator("main")).toContainText("<img src=x");
    await expectOnlyText(page);
    await expectTame(page);
  }
  for (const path of [`/workflows/${HOSTILE_WORKFLOW}`, `/new?workflow=${HOSTILE_WORKFLOW}`]) {
    await page.goto(path);
    await settled(page);
    await expect(page.locator("main")).toContainText("<script>");
    await expectOnlyText(page);
  }
  await server.ask("POST", `/api/agent-work-orders/${id}/cancel`);
});

test("markup in the address is text", async ({ page, watch }) => {
  watch.allow(/Failed to load resource/); // There are no such things.
  const bad = encodeURIComponent(PAYLOADS.image);
  for (const path of [
    `/orders?q=${bad}&repository=${bad}&workflow=x`,
    `/orders/${bad}?tab=${bad}&task=${bad}`,
    `/workflows/${bad}`,
    `/approvals/${bad}`,
    `/new?prompt=${bad}&repository=${bad}`,
    `/sign-in?from=${encodeURIComponent("javascript:window.__pwned=1")}`,
    `/sign-in?from=${encodeURIComponent("//evil.test/")}`,
    `/${bad}`,
  ]) {
    await page.goto(path);
    await settled(page);
    await expectOnlyText(page);
  }
});

test("branches and workflows cannot be named with markup; a repository's own are shown as text", async ({
  page,
  server,
  repository,
}) => {
  server.addWorkflows(HOSTILE_WORKFLOWS);
  git(repository, "branch", HOSTILE_BRANCH);
  try {
    await page.goto("/new");
    await page.getByLabel("Repository").fill(repository);
    await page.getByRole("button", { name: "Check" }).click();
    await expect(page.getByText(/The server can read/)).toBeVisible();
    await expectOnlyText(page);
    const order = { repository_url: repository, initial_prompt: "x", agent: hostileAgent() };
    const branched = { ...order, workflow_type: HOSTILE_WORKFLOW, base_branch: HOSTILE_BRANCH };
    await expect(server.create(branched)).rejects.toThrow("branch_name_invalid");
    const named = `name: "<script>"\ntasks: {a: {uses: tests.run}}\n`;
    await expect(server.create({ ...order, workflow_source: named })).rejects.toThrow(
      "workflow_invalid",
    );
  } finally {
    git(repository, "branch", "-D", HOSTILE_BRANCH);
  }
});
