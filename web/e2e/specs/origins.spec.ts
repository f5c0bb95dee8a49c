/** Pages of other origins, and names that somebody points at this machine. */

import type { Page } from "@playwright/test";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, request, type Server as HttpServer } from "node:http";
import { once } from "node:events";
import { expect, signIn, test } from "../fixtures";
import { anOrder, SCRIPTS } from "../sample";
import type { Server } from "../server";

interface Foreign {
  server: HttpServer;
  port: number;
  /** The cookies that browsers have sent to it. */
  cookies: string[];
  /** Cookies that it gives to whoever comes. */
  plants: string[];
}

/** An empty page, served from elsewhere. */
async function foreignSite(): Promise<Foreign> {
  const cookies: string[] = [];
  const plants: string[] = [];
  const server = createServer((asked, response) => {
    cookies.push(asked.headers.cookie ?? "");
    response.setHeader("Set-Cookie", plants);
    response.setHeader("Content-Type", "text/html");
    response.end("<!doctype html><title>Elsewhere</title><p>Elsewhere</p>");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no address");
  return { server, port: address.port, cookies, plants };
}

/** As a program asks, which may say of itself whatever it likes. Only the beginning is read. */
function replay(
  url: string,
  method: string,
  path: string,
  headers: Record<string, string>,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(url + path, { method, headers }, (answer) => {
      answer.once("data", (text: Buffer) => {
        resolve({ status: answer.statusCode ?? 0, text: text.toString() });
        asked.destroy();
      });
    });
    asked.once("error", reject);
    asked.end(method === "POST" ? "{}" : undefined);
  });
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

/** At work until somebody stops it: nobody from elsewhere may. */
async function secretOrder(server: Server, repository: string): Promise<string> {
  const wish = anOrder(repository, "Secret wish", SCRIPTS.endless, "agent_workflow_build");
  const order = await server.create(wish);
  await server.reaches(order, "running");
  return order;
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
    const order = await secretOrder(server, repository);
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

test("a server on another port is sent the cookie, and can do nothing with it", async ({
  page,
  server,
  repository,
  watch,
}) => {
  watch.allow(/request to elsewhere/);
  const order = await secretOrder(server, repository);
  await page.goto("/");
  await page.goto(`http://127.0.0.1:${elsewhere.port}/`);
  expect(await page.evaluate(() => window.localStorage.length), "what our page stored").toBe(0);
  const cookie = elsewhere.cookies.at(-1) ?? "";
  // Browsers do not tell ports apart: this is why the cookie must not be enough.
  expect(cookie).toContain(`awo_session_${server.port}=`);

  const forged = {
    Cookie: cookie,
    Origin: server.url,
    Referer: `${server.url}/`,
    "Content-Type": "application/json",
    "Sec-Fetch-Site": "same-origin",
    "Sec-Fetch-Mode": "cors",
    "Sec-Fetch-Dest": "empty",
  };
  const one = `/api/agent-work-orders/${order}`;
  for (const [method, path] of [
    ["GET", "/api/agent-work-orders"],
    ["GET", one],
    ["GET", `${one}/logs`],
    ["GET", "/api/session"],
    ["GET", "/api/events?after=0"],
    ["GET", "/api/keys"],
    ["POST", `${one}/cancel`],
    ["POST", "/api/session/links"],
    ["DELETE", "/api/session"],
  ] as const) {
    const guesses: Record<string, string>[] = [{}, { "X-AWO-Page": "0".repeat(64) }];
    for (const guess of guesses) {
      const got = await replay(server.url, method, path, { ...forged, ...guess });
      expect(got.text, `${method} ${path}`).toContain("page_unproven");
      expect(got.status, `${method} ${path}`).toBe(401);
      expect(got.text).not.toContain("Secret wish");
    }
  }
  expect((await server.order(order)).status).toBe("running");
  await page.goto("/orders");
  await expect(page.getByText("Secret wish").first()).toBeVisible();
  await server.ask("POST", `${one}/cancel`);
});

test("cookies that another port plants do not lock anybody out", async ({ page, server, watch }) => {
  watch.allow(/request to elsewhere/);
  // Somebody who may sign in has a cookie of his own: it must not become anybody else's.
  const { token } = await server.ask<{ token: string }>("POST", "/api/keys", {
    name: "mallory",
    role: "viewer",
  });
  const made = await fetch(`${server.url}/api/session`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ key: token }),
  });
  const planted = (made.headers.get("Set-Cookie") ?? "").split(";")[0];
  expect(planted).toContain(`awo_session_${server.port}=`);
  elsewhere.plants.push(`${planted}; Path=/api`, `awo_session_${server.port}=x; Path=/api/session`);
  await page.goto(`http://127.0.0.1:${elsewhere.port}/`);
  elsewhere.plants.length = 0;
  await page.goto("/about");
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await expect(page.getByRole("button", { name: /signed in as local/ }).first()).toBeVisible();
  await expect(page.getByTestId("live-state").filter({ visible: true })).toHaveAttribute(
    "data-state",
    "live",
  );
});

test("a page that has lost its secret asks to sign in, and another tab can do it", async ({
  browser,
  server,
}) => {
  const storageState = { cookies: [], origins: [] };
  const context = await browser.newContext({ baseURL: server.url, storageState });
  const [page, other] = [await context.newPage(), await context.newPage()];
  await signIn(page, server);
  await page.evaluate(() => window.localStorage.clear());
  await page.goto("/workflows");
  await expect(page).toHaveURL(/sign-in/);
  await signIn(other, server);
  await expect(page).toHaveURL(/\/workflows$/);
  await expect(page.getByRole("heading", { level: 1 })).toContainText("Workflows");
  await context.close();
});

test("a file is downloaded by the page, not by its address", async ({
  page,
  server,
  repository,
  watch,
}) => {
  watch.allow(/status of 401/);
  const order = await server.create(anOrder(repository, "With evidence", SCRIPTS.success));
  await server.reaches(order, "waiting");
  const { artifacts } = await server.ask<{
    artifacts: { name: string; sha256: string; size_bytes: number }[];
  }>("GET", `/api/agent-work-orders/${order}/artifacts`);
  const [artifact] = artifacts;
  if (artifact === undefined) throw new Error("the order has no artifact");
  await page.goto(`/orders/${order}?tab=artifacts`);
  const began = page.waitForEvent("download");
  await page.getByRole("button", { name: `Download ${artifact.name}` }).first().click();
  const content = readFileSync(await (await began).path());
  expect(artifacts.map((one) => one.sha256)).toContain(
    createHash("sha256").update(content).digest("hex"),
  );
  const direct = await page.goto(`/api/agent-work-orders/${order}/artifacts/${artifact.sha256}`);
  expect(direct?.status()).toBe(401);
  await server.ask("POST", `/api/agent-work-orders/${order}/cancel`);
});

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
