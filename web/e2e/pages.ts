/** Every page of the dashboard, and a server whose pages have something to show. */

import { expect, type Page } from "@playwright/test";
import { failsOnce, GREETING, RELEASE, scripted, SCRIPTS, sharedFolder } from "./sample";
import type { Server } from "./server";

export interface World {
  completed: string;
  waiting: string;
  failed: string;
  running: string;
  approval: string;
}

export interface Place {
  name: string;
  path: (world: World) => string;
  /** Whether it is another picture on a server without orders. */
  empty?: boolean;
  /** Left out of the pictures in error: they look like another page's. */
  noError?: boolean;
  /** In error the order itself is there; what the tab asks for is not. */
  tab?: boolean;
}

const order = (id: string, tab?: string) => `/orders/${id}${tab ? `?tab=${tab}` : ""}`;

export const PLACES: readonly Place[] = [
  { name: "inbox", path: () => "/", empty: true },
  { name: "orders", path: () => "/orders", empty: true },
  { name: "order-completed", path: (world) => order(world.completed) },
  { name: "order-failed", path: (world) => order(world.failed), noError: true },
  { name: "order-waiting", path: (world) => order(world.waiting), noError: true },
  { name: "order-running", path: (world) => order(world.running), noError: true },
  ...["changes", "transcript", "logs", "tests", "artifacts", "cost"].map((tab) => ({
    name: `order-${tab}`,
    path: (world: World) => order(world.completed, tab),
    tab: true,
  })),
  { name: "new-order", path: () => "/new", empty: true },
  { name: "workflows", path: () => "/workflows", empty: true },
  { name: "workflow", path: () => `/workflows/${RELEASE}` },
  { name: "approvals", path: () => "/approvals", empty: true },
  { name: "approval", path: (world) => `/approvals/${world.approval}` },
  { name: "about", path: () => "/about", empty: true },
  { name: "sign-in", path: () => "/sign-in", noError: true },
];

/** The names of nothing: what the pages of one thing show when it is not there. */
export const NOWHERE: World = {
  completed: "wo-aaaaaaaaaaaaaaaa",
  waiting: "wo-aaaaaaaaaaaaaaaa",
  failed: "wo-aaaaaaaaaaaaaaaa",
  running: "wo-aaaaaaaaaaaaaaaa",
  approval: "wo-aaaaaaaaaaaaaaaa:publish:1",
};

/** Orders in every state that people meet. */
export async function furnish(server: Server, repository: string): Promise<World> {
  const make = (title: string, workflow: string, script: string) =>
    server.create({
      repository_url: repository,
      workflow_type: workflow,
      title,
      initial_prompt: `${title}. Each price is for one item; the basket knows how many there are.`,
      agent: scripted(script),
    });
  const full = "agent_workflow_plan_build_test";
  const [completed, waiting, failed, running, paused, cancelled] = await Promise.all([
    make("Total forgets quantities", full, SCRIPTS.mending),
    make("Count what is in the basket", RELEASE, SCRIPTS.success),
    make("Round prices to whole cents", RELEASE, failsOnce(sharedFolder())),
    make("Show discounts in the total", RELEASE, SCRIPTS.endless),
    make("Remember the basket overnight", RELEASE, SCRIPTS.endless),
    make("Empty the basket after payment", RELEASE, SCRIPTS.endless),
    make("Greet everybody", GREETING, SCRIPTS.success),
  ]);
  await server.reaches(completed, "completed");
  await server.reaches(waiting, "waiting");
  await server.reaches(failed, "failed");
  for (const id of [running, paused, cancelled]) await server.reaches(id, "running");
  await server.ask("POST", `/api/agent-work-orders/${paused}/pause`);
  await server.ask("POST", `/api/agent-work-orders/${cancelled}/cancel`);
  const { approvals } = await server.ask<{ approvals: { approval_id: string }[] }>(
    "GET",
    "/api/approvals",
  );
  const approval = approvals.find((one) => one.approval_id.startsWith(waiting))?.approval_id;
  if (!approval) throw new Error("nothing waits for an approval");
  return { completed, waiting, failed, running, approval };
}

/** Until the page shows what it has: nothing loads, no skeleton stands, letters are there. */
export async function settled(page: Page): Promise<void> {
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible({ timeout: 15_000 });
  await expect(page.locator("[data-testid=skeleton], [aria-busy=true]")).toHaveCount(0, {
    timeout: 15_000,
  });
  await drawn(page);
}

/** Until what is there has been drawn. */
export async function drawn(page: Page): Promise<void> {
  await page.evaluate(async () => {
    await document.fonts.ready;
    for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
  });
}

/** How far the page can be pushed sideways, in pixels. */
export function sideways(page: Page): Promise<number> {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return scrollWidth - clientWidth;
  });
}
