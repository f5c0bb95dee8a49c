/** The server dies while people look at it. */

import { expect, signIn, test } from "../fixtures";
import { expectNotReloaded, mark, OrderView } from "../order";
import { anOrder, Gate, SCRIPTS, WORKFLOWS } from "../sample";
import { Server } from "../server";

test("kill -9 and restart: the page says so, and catches up without a reload", async ({
  browser,
  repository,
}) => {
  const server = await Server.start({ workflows: WORKFLOWS });
  const context = await browser.newContext({ baseURL: server.url });
  try {
    const page = await context.newPage();
    await signIn(page, server);
    const gate = new Gate();
    const id = await server.create(anOrder(repository, "Survives", gate.script));
    const view = new OrderView(page);
    await view.open(id);
    await mark(page);
    const live = page.getByTestId("live-state").filter({ visible: true });
    await expect(live).toHaveAttribute("data-state", "live");
    await view.taskIs("plan", "Running");

    await server.kill();
    await expect(live).toHaveAttribute("data-state", /connecting|polling/);
    await expect(live).toContainText(/Reconnecting|Polling/);
    await expect(page.getByRole("heading", { level: 1 })).toContainText("Survives");

    await server.up();
    await expect(live).toHaveAttribute("data-state", "live", { timeout: 20_000 });
    gate.open("plan");
    gate.open("build");
    // What the page had missed, and what happens from now on.
    await view.taskIs("plan", "Succeeded");
    await view.taskIs("check", "Succeeded");
    await page.getByRole("button", { name: "Approve" }).click();
    await view.hasState("Completed");
    await expectNotReloaded(page);
    expect((await server.order(id)).status).toBe("completed");
  } finally {
    await context.close();
    await server.stop();
  }
});

test("without a stream the page asks every few seconds", async ({ page, server, repository, watch }) => {
  watch.allow(/Failed to load resource|ERR_FAILED/);
  await page.route("**/api/events*", (route) => route.abort());
  const id = await server.create(anOrder(repository, "Polled", SCRIPTS.success));
  const view = new OrderView(page);
  await view.open(id);
  await mark(page);
  const live = page.getByTestId("live-state").filter({ visible: true });
  await expect(live).toHaveAttribute("data-state", "polling", { timeout: 20_000 });
  await view.taskIs("check", "Succeeded");
  await page.unroute("**/api/events*");
  await expect(live).toHaveAttribute("data-state", "live", { timeout: 40_000 });
  await expectNotReloaded(page);
  await server.ask("POST", `/api/agent-work-orders/${id}/cancel`);
});
