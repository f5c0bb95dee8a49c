/** What people do to an order that is under way or has failed. */

import { expect, test } from "../fixtures";
import { expectNotReloaded, mark, OrderView } from "../order";
import { anOrder, failsOnce, Gate, SCRIPTS, sharedFolder } from "../sample";

test("a failed order says what to do; retried, it completes", async ({
  page,
  server,
  repository,
}) => {
  const id = await server.create(anOrder(repository, "Fails at first", failsOnce(sharedFolder())));
  const view = new OrderView(page);
  await view.open(id);
  await mark(page);
  await view.hasState("Failed");
  const banner = page.getByRole("region", { name: /^About the state/ });
  await expect(banner).toContainText("sh exited with 3");
  await expect(banner).toContainText("Read the transcript, then retry with a prompt.");
  await view.taskIs("build", "Failed");
  await view.button("Retry").click();
  await view.taskIs("build", "Succeeded");
  await page.getByRole("button", { name: "Approve" }).click();
  await view.hasState("Completed");
  await expectNotReloaded(page);
});

test("a prompt reaches the agent", async ({ page, server, repository }) => {
  const said = "Please mention the word tangerine.";
  const gate = new Gate();
  const id = await server.create(anOrder(repository, "Listens", gate.script));
  const view = new OrderView(page);
  await view.open(id);
  await view.taskIs("plan", "Running");
  const prompt = page.getByRole("textbox", { name: "Prompt" });
  await prompt.fill(said);
  await page.getByRole("button", { name: "Send" }).click();
  await expect(page.getByText(/Prompt kept/)).toBeVisible();
  await expect(prompt).toHaveValue("");
  gate.open("plan");
  gate.open("build");
  await view.taskIs("build", "Succeeded");
  await view.showTab("Transcript");
  // It belongs to the agent that was at work: another turn of the same task.
  await page.getByLabel("Transcript of which task").selectOption("plan");
  const transcript = page.getByTestId("transcript");
  await page.getByRole("searchbox").fill("tangerine");
  await expect(transcript.getByText(said, { exact: false }).first()).toBeVisible();
  // And what the page shows is what the agent was given.
  const { entries } = await server.ask<{ entries: { kind: string; text: string }[] }>(
    "GET",
    `/api/agent-work-orders/${id}/transcript?task=plan`,
  );
  const given = entries.filter((one) => one.kind === "prompt").map((one) => one.text);
  expect(given).toContainEqual(expect.stringContaining(said));
  await server.ask("POST", `/api/agent-work-orders/${id}/cancel`);
});

test("cancel asks first, then stops the order", async ({ page, server, repository }) => {
  const id = await server.create(anOrder(repository, "Endless", SCRIPTS.endless));
  const view = new OrderView(page);
  await view.open(id);
  await view.taskIs("build", "Running");
  await view.button("Cancel").click();
  const question = page.getByRole("alertdialog");
  await expect(question).toContainText("Cancel this order?");
  await question.getByRole("button", { name: "Let it go on" }).click();
  await expect(question).toBeHidden();
  expect((await server.order(id)).status).toBe("running");
  await view.button("Cancel").click();
  await question.getByRole("button", { name: "Cancel the order" }).click();
  await view.hasState("Cancelled");
  await view.taskIs("build", "Cancelled");
  expect((await server.order(id)).status).toBe("cancelled");
});

test("pause lets the task end and starts nothing; resume goes on", async ({
  page,
  server,
  repository,
}) => {
  const gate = new Gate();
  const id = await server.create(anOrder(repository, "Pauses", gate.script));
  const view = new OrderView(page);
  await view.open(id);
  await view.taskIs("plan", "Running");
  await view.button("Pause").click();
  await expect(page.getByRole("region", { name: /Pausing/ })).toBeVisible();
  gate.open("plan");
  await view.taskIs("plan", "Succeeded");
  await view.hasState("Paused");
  await expect(view.task("build")).toContainText("Pending");
  await view.button("Resume").click();
  await view.taskIs("build", "Running");
  gate.open("build");
  await view.taskIs("check", "Succeeded");
  await server.ask("POST", `/api/agent-work-orders/${id}/cancel`);
});

test("an action that the server refuses is taken back", async ({
  page,
  server,
  repository,
  watch,
}) => {
  watch.allow(/Failed to load resource/);
  const id = await server.create(anOrder(repository, "Refuses", SCRIPTS.endless));
  const view = new OrderView(page);
  await view.open(id);
  await view.taskIs("build", "Running");
  await page.route("**/pause", (route) =>
    route.fulfill({
      status: 409,
      contentType: "application/problem+json",
      body: JSON.stringify({
        type: "urn:agent-work-orders:problem:order_state_conflict",
        title: "Conflict",
        status: 409,
        detail: "Not now: the order ends itself",
        code: "order_state_conflict",
        hint: "Look again in a moment.",
      }),
    }),
  );
  await view.button("Pause").click();
  await expect(page.getByText("Not now: the order ends itself").first()).toBeVisible();
  await view.hasState("Running");
  await server.ask("POST", `/api/agent-work-orders/${id}/cancel`);
});

test("a viewer sees everything and is offered nothing that would be refused", async ({
  browser,
  server,
  repository,
}) => {
  const id = await server.create(anOrder(repository, "Looked at", SCRIPTS.success));
  await server.reaches(id, "waiting");
  const { token } = await server.ask<{ token: string }>("POST", "/api/keys", {
    name: "visitor",
    role: "viewer",
  });
  const visitor = await browser.newContext({ storageState: { cookies: [], origins: [] } });
  const page = await visitor.newPage();
  await page.goto(`${server.url}/sign-in?from=/orders/${id}`);
  await page.getByLabel("API key").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("heading", { name: "Looked at" })).toBeVisible();
  await expect(page.getByText("Publish the branch?").first()).toBeVisible();
  await expect(page.getByText(/a key with the role approver/)).toBeVisible();
  await expect(page.getByText(/a key with the role operator/)).toBeVisible();
  for (const name of ["Approve", "Reject", "Pause", "Cancel", "Send", "More actions"]) {
    await expect(page.getByRole("button", { name, exact: true })).toHaveCount(0);
  }
  await expect(page.getByRole("link", { name: "New work order" })).toHaveCount(0);
  await page.keyboard.press("x");
  await expect(page.getByRole("alertdialog")).toHaveCount(0);
  await page.goto(`${server.url}/new`);
  await expect(page.getByText("You may look, but not create work orders")).toBeVisible();
  await visitor.close();
});
