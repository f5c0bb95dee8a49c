import { act, configure, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { anOrder, aPage, json, refusal, testClient } from "@/api/test-fixtures";
import { listenForShortcuts } from "@/lib/shortcuts";
import { renderPages } from "@/ui/test-page";
import { CARD_HEIGHT } from "./order-card";
import { OrdersPage } from "./orders-page";

// A whole page with its table: slow where many tests run at once.
configure({ asyncUtilTimeout: 8_000 });
vi.setConfig({ testTimeout: 30_000 });

let stop = () => {};
let asked: URL[] = [];
beforeEach(() => {
  stop = listenForShortcuts(window);
  asked = [];
  localStorage.clear();
  // Nothing has a size in jsdom, and a list without one draws no row.
  vi.spyOn(Element.prototype, "clientHeight", "get").mockReturnValue(480);
  vi.spyOn(Element.prototype, "clientWidth", "get").mockReturnValue(1000);
});
afterEach(() => {
  stop();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const rows = (offset: number) =>
  Array.from({ length: 100 }, (_, n) =>
    anOrder(offset + n, {
      title: `Order ${offset + n}`,
      agent: { name: "scripted" },
      priority: "medium",
    }),
  );

function serve(page: (url: URL) => Response) {
  vi.stubGlobal("fetch", (request: Request) => {
    const url = new URL(request.url);
    if (url.pathname !== "/api/agent-work-orders") return Promise.resolve(json({ workflows: [] }));
    asked.push(url);
    return Promise.resolve(page(url));
  });
}

async function show(path = "/orders") {
  const { router } = await renderPages(
    { "/orders": OrdersPage, "/orders/$orderId": () => <p>opened</p> },
    { at: path, queryClient: testClient() },
  );
  return router;
}

it("draws a few of many rows, and says how many there are", async () => {
  serve((url) => json(aPage(rows(Number(url.searchParams.get("offset"))), 10_000)));
  await show();
  expect(await screen.findByText("10,000 work orders")).toBeInTheDocument();
  const table = screen.getByRole("table");
  expect(table).toHaveAttribute("aria-rowcount", "10001");
  const drawn = within(table).getAllByRole("row");
  expect(drawn.length).toBeLessThan(40);
  expect(drawn[1]).toHaveAttribute("aria-rowindex", "2");
  expect(screen.getByRole("link", { name: "Order 0" })).toHaveAttribute("href", "/orders/wo-0");
  expect(asked.map((url) => url.searchParams.get("offset"))).toEqual(["0"]);
});

it("goes from row to row by j and opens by Enter", async () => {
  serve(() => json(aPage(rows(0))));
  const router = await show();
  await screen.findByText("Order 0");
  await userEvent.keyboard("jjjk");
  expect(screen.getByRole("link", { name: "Order 1" })).toHaveFocus();
  await userEvent.keyboard("{Enter}");
  expect(await screen.findByText("opened")).toBeInTheDocument();
  expect(router.state.location.pathname).toBe("/orders/wo-1");
});

it("keeps filters in the address, and clears them", async () => {
  serve((url) => json(aPage(url.searchParams.has("q") ? [] : rows(0))));
  const router = await show();
  await screen.findByText("Order 0");
  await userEvent.click(screen.getByRole("button", { name: "Failed" }));
  await userEvent.type(screen.getByLabelText("Search work orders"), "basket");
  await screen.findByText("No work order matches");
  expect(router.state.location.search).toEqual({ status: ["failed"], q: "basket" });
  await userEvent.click(screen.getAllByRole("button", { name: "Clear filters" })[0]!);
  await screen.findByText("Order 0");
  expect(router.state.location.search).toEqual({});
  expect(screen.getByLabelText("Search work orders")).toHaveValue("");
});

it("remembers which columns are shown", async () => {
  serve(() => json(aPage(rows(0))));
  await show();
  await screen.findByRole("columnheader", { name: "Cost" });
  await userEvent.click(screen.getByRole("button", { name: "Columns" }));
  await userEvent.click(await screen.findByRole("menuitemcheckbox", { name: "Cost" }));
  expect(screen.queryByText("Cost", { selector: "[role=columnheader]" })).toBeNull();
  expect(localStorage.getItem("awo.orders.columns")).toContain("cost");
});

it("leads to the first order", async () => {
  serve(() => json(aPage([])));
  await show();
  expect(await screen.findByText("No work orders yet")).toBeInTheDocument();
});

it("explains a failure and tries again", async () => {
  serve(() => refusal(500, "internal_error"));
  await show();
  await screen.findByRole("alert");
  serve(() => json(aPage(rows(0))));
  await userEvent.click(screen.getByRole("button", { name: "Try again" }));
  await waitFor(() => expect(screen.getByRole("link", { name: "Order 0" })).toBeInTheDocument());
});

it("sorts by a pressed column, in the address and at the server", async () => {
  serve((url) => {
    const title = url.searchParams.has("sort") ? "By change" : "By creation";
    return json(aPage([anOrder(1, { ...rows(0)[1], title })]));
  });
  const router = await show();
  await screen.findByText("By creation");
  const header = (name: string) => screen.getByRole("columnheader", { name });
  expect(header("Created")).toHaveAttribute("aria-sort", "descending");
  expect(header("Updated")).toHaveAttribute("aria-sort", "none");
  expect(header("Title")).not.toHaveAttribute("aria-sort");
  await userEvent.click(screen.getByRole("button", { name: "Updated" }));
  await screen.findByText("By change");
  expect(screen.getByRole("button", { name: "Updated" })).toHaveFocus();
  expect(router.state.location.search).toEqual({ sort: "updated_at" });
  await userEvent.click(screen.getByRole("button", { name: "Updated" }));
  await waitFor(() => expect(header("Updated")).toHaveAttribute("aria-sort", "ascending"));
  expect(router.state.location.search).toEqual({ sort: "updated_at", order: "asc" });
  await waitFor(() => expect(asked.at(-1)?.searchParams.get("order")).toBe("asc"));
});

it("stays sorted when filters are cleared", async () => {
  serve((url) => json(aPage(url.searchParams.has("q") ? [] : rows(0))));
  const router = await show("/orders?q=x&order=asc");
  await userEvent.click((await screen.findAllByRole("button", { name: "Clear filters" }))[0]!);
  await screen.findByText("Order 0");
  expect(router.state.location.search).toEqual({ order: "asc" });
});

it("gives cards their own height when the window becomes as narrow as a phone", async () => {
  let narrow = false;
  const listeners = new Set<() => void>();
  vi.stubGlobal("matchMedia", () => ({
    get matches() {
      return narrow;
    },
    addEventListener: (_: string, listener: () => void) => listeners.add(listener),
    removeEventListener: (_: string, listener: () => void) => listeners.delete(listener),
  }));
  serve(() => json(aPage(rows(0).slice(0, 3))));
  await show();
  await screen.findByText("Order 0");
  narrow = true;
  act(() => listeners.forEach((listener) => listener()));
  const list = await screen.findByRole("list", { name: "Work orders" });
  const cards = within(list).getAllByRole("listitem");
  expect(cards.map((card) => card.style.transform)).toEqual(
    [0, 1, 2].map((n) => `translateY(${n * CARD_HEIGHT}px)`),
  );
});
