/** Pages of other origins, and names that somebody points at this machine. */

import type { Page } from "@playwright/test";
import { createServer, type Server as HttpServer } from "node:http";
import { once } from "node:events";
import { expect, test } from "../fixtures";
import { scripted, SCRIPTS } from "../sample";

interface Foreign {
  server: HttpServer;
  port: number;
}

/** An empty page, served from elsewhere. */
async function foreignSite(): Promise<Foreign> {
  const server = createServer((_, response) => {
    response.setHeader("Content-Type", "text/html");
    response.end("<!doctype html><title>Elsewhere</title><p>Elsewhere</p>");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no address");
  return { server, port: address.port };
}

interface Attempts {
  read: string;
  readOpaque: string;
  act: string;
  actSimply: string;
  actByForm: string;
  stream: string;
  framed: string;
}

/** Everything that a page elsewhere can try against our server. What it gets, it says. */
function attack(page: Page, target: string, order: string): Promise<Attempts> {
  return page.evaluate(
    async ([url, id]) => {
      const tried = async (work: () => Promise<string>): Promise<string> =>
        work().catch((error: unknown) => `refused: ${String(error)}`);
      const cancel = `${url}/api/agent-work-orders/${id}/cancel`;
      const cookies: RequestInit = { credentials: "include" };
      return {
        read: await tried(async () =>
          (await fetch(`${url}/api/agent-work-orders`, cookies)).text(),
        ),
        readOpaque: await tried(async () =>
          (
            await fetch(`${url}/api/agent-work-orders`, { ...cookies, mode: "no-cors" })
          ).text(),
        ),
        act: await tried(async () =>
          (
            await fetch(cancel, {
              ...cookies,
              method: "POST",
              headers: { "Content-Type": "application/json" },
              body: "{}",
            })
          ).text(),
        ),
        actSimply: await tried(async () =>
          (
            await fetch(cancel, { ...cookies, method: "POST", mode: "no-cors", body: "{}" })
          ).text(),
        ),
        actByForm: await tried(
          () =>
            new Promise((resolve) => {
              const frame = document.createElement("iframe");
              frame.name = "sink";
              document.body.append(frame);
              const form = document.createElement("form");
              Object.assign(form, { method: "post", action: cancel, target: "sink" });
              document.body.append(form);
              form.submit();
              setTimeout(() => resolve(""), 1_000);
            }),
        ),
        stream: await tried(
          () =>
            new Promise((resolve) => {
              const source = new EventSource(`${url}/api/events?after=0`, {
                withCredentials: true,
              });
              source.onerror = () => resolve("refused");
              source.onopen = () => resolve("open");
            }),
        ),
        framed: await tried(
          () =>
            new Promise((resolve) => {
              const frame = document.createElement("iframe");
              frame.src = `${url}/`;
              frame.onload = () => {
                try {
                  resolve(frame.contentDocument?.body.textContent ?? "refused");
                } catch {
                  resolve("refused");
                }
              };
              document.body.append(frame);
            }),
        ),
      };
    },
    [target, order] as const,
  );
}

let elsewhere: Foreign;
test.beforeAll(async () => {
  elsewhere = await foreignSite();
});
test.afterAll(() => void elsewhere.server.close());

// A port is another origin but the same site: the browser sends the cookie. A name is another
// site: it does not. The server must refuse both.
for (const host of ["127.0.0.1", "localhost", "evil.test"]) {
  test(`a page of ${host} on another port neither reads nor acts`, async ({
    page,
    server,
    repository,
    watch,
  }) => {
    watch.allow(/.*/); // This page is the attacker: what it is told, it says.
    const order = await server.create({
      repository_url: repository,
      workflow_type: "agent_workflow_build",
      title: "Secret wish",
      agent: scripted(SCRIPTS.endless),
    });
    await server.reaches(order, "running");
    await page.goto(`http://${host}:${elsewhere.port}/`);
    const got = await attack(page, server.url, order);
    expect(got.read).toMatch(/^refused/);
    // Without CORS a page may send, but what comes back is empty, or is not even that.
    expect(got.readOpaque).toMatch(/^(refused.*)?$/);
    expect(got.act).toMatch(/^refused/);
    expect(got.actSimply).toMatch(/^(refused.*)?$/);
    expect(got.stream).toBe("refused");
    expect(JSON.stringify(got)).not.toContain("Secret wish");
    expect(got.framed).not.toContain("Inbox");
    expect((await server.order(order)).status).toBe("running");
    await server.ask("POST", `/api/agent-work-orders/${order}/cancel`);
  });
}

test("a name that points at this machine is not answered", async ({ page, server, watch }) => {
  watch.allow(/.*/);
  const rebound = `http://evil.test:${server.port}`;
  const shown = await page.goto(`${rebound}/`);
  expect(shown?.status()).toBe(403);
  expect(await page.content()).not.toContain("csp-nonce");
  for (const path of ["/api/agent-work-orders", "/api/session", "/status", "/assets/x.js"]) {
    expect((await page.goto(rebound + path))?.status(), path).toBe(403);
  }
  // Nor with the cookie that was given to the right name.
  const cookies = await page.context().cookies(server.url);
  expect(cookies.length).toBeGreaterThan(0);
  await page.context().addCookies(
    cookies.map(({ name, value }) => ({ name, value, domain: "evil.test", path: "/" })),
  );
  const again = await page.goto(`${rebound}/api/agent-work-orders`);
  expect(again?.status()).toBe(403);
  expect(await again?.text()).not.toContain("agent_work_order_id");
});

test("the cookie is for this server's pages alone", async ({ page, server }) => {
  await page.goto("/");
  const [cookie] = await page.context().cookies(server.url);
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict", path: "/" });
  expect(await page.evaluate(() => document.cookie)).toBe("");
});

test("a one-time link works once", async ({ browser, server }) => {
  const link = await server.freshLink();
  const first = await browser.newContext({ storageState: { cookies: [], origins: [] } });
  const page = await first.newPage();
  await page.goto(link);
  await expect(page).not.toHaveURL(/sign-in/);
  expect(page.url()).not.toContain("#");
  await first.close();
  const second = await browser.newContext({ storageState: { cookies: [], origins: [] } });
  const other = await second.newPage();
  await other.goto(link);
  await expect(other.getByText(/does not work/)).toBeVisible();
  await expect(other).toHaveURL(/sign-in/);
  await second.close();
});
