/** A question is about the commit that its page shows, also for a page that has heard of no other. */

import { expect, test } from "../fixtures";
import { anOrder, BESIDE, Gate } from "../sample";
import type { Server } from "../server";

interface Asked {
  approval_id: string;
  state: string;
  head_sha: string;
}

async function asked(server: Server, id: string, count: number): Promise<Asked[]> {
  let found: Asked[] = [];
  await expect(async () => {
    const path = `/api/agent-work-orders/${id}/approvals`;
    found = (await server.ask<{ approvals: Asked[] }>("GET", path)).approvals;
    expect(found).toHaveLength(count);
  }).toPass({ timeout: 30_000 });
  return found.sort((a, b) => a.approval_id.localeCompare(b.approval_id));
}

test("an answer to what the branch was before is refused, and the way on is shown", async ({
  page,
  server,
  repository,
  watch,
}) => {
  watch.allow(/Failed to load resource|ERR_FAILED/);
  const gate = new Gate();
  const id = await server.create(anOrder(repository, "Moves", gate.script, BESIDE));
  gate.open("plan");
  const [first] = await asked(server, id, 1);
  await page.route("**/api/events*", (route) => route.abort());
  await page.goto(`/approvals/${first?.approval_id}`);
  await expect(page.getByRole("button", { name: "Approve" })).toBeVisible();
  await expect(page.getByText(`Changed up to ${first?.head_sha.slice(0, 12)}`)).toBeVisible();

  // From here on the page hears nothing, while the branch moves.
  const reads = (request: { method(): string }) => request.method() === "GET";
  await page.route("**/api/**", (route) =>
    reads(route.request()) ? route.abort() : route.continue(),
  );
  gate.open("build");
  const [old, now] = await asked(server, id, 2);
  expect(old).toMatchObject({ approval_id: first?.approval_id, state: "void" });
  await page.getByRole("button", { name: "Approve" }).click();
  const refusal = page.getByRole("alert").filter({ hasText: "approval_subject_changed" });
  await expect(refusal).toContainText("the order's branch has moved");

  await page.unroute("**/api/**");
  await page.unroute("**/api/events*");
  const way = page.getByRole("link", { name: "See what is asked now" });
  await expect(way).toBeVisible({ timeout: 40_000 });
  await way.click();
  await expect(page.getByText(`Changed up to ${now?.head_sha.slice(0, 12)}`)).toBeVisible();
  await page.getByRole("button", { name: "Approve" }).click();
  await expect(page.getByText("This was approved.")).toBeVisible();
  expect(await asked(server, id, 2)).toMatchObject([{ state: "void" }, { state: "approved" }]);
});
