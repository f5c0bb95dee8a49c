import { describe, expect, it } from "vitest";

import {
  orderSearch,
  ordersSearch,
  parseSearch,
  stringifySearch,
  workflowSearch,
} from "@/app/search";

describe("the search part of the address", () => {
  it("repeats names for lists and keeps numbers as text", () => {
    const text = stringifySearch({ status: ["failed", "running"], q: "12", task: undefined });
    expect(text).toBe("?status=failed&status=running&q=12");
    expect(parseSearch(text)).toEqual({ status: ["failed", "running"], q: "12" });
  });

  it("survives markup, spaces and ampersands", () => {
    const search = { q: `<b>&"x" = y</b> + %20` };
    expect(parseSearch(stringifySearch(search))).toEqual(search);
  });

  it("drops what the list of orders does not know", () => {
    expect(ordersSearch({ status: ["failed", "nonsense", "failed"], q: "", evil: "1" })).toEqual({
      status: ["failed"],
    });
    expect(ordersSearch({ status: "running" })).toEqual({ status: ["running"] });
    expect(ordersSearch({ sort: "updated_at", order: "asc" })).toEqual({
      sort: "updated_at",
      order: "asc",
    });
    expect(ordersSearch({ sort: "cost; DROP", order: "up" })).toEqual({});
    expect(ordersSearch({ status: { a: 1 }, q: ["a", "b"] })).toEqual({});
  });

  it("keeps what is looked at of an order", () => {
    const search = { tab: "logs", task: "build.fix[1]", level: "error", q: "x", follow: "off" };
    expect(orderSearch({ ...search, evil: "1" })).toEqual(search);
    expect(orderSearch({ level: "loud", follow: "on", q: ["a"] })).toEqual({});
  });

  it("keeps a version and a task", () => {
    expect(workflowSearch({ version: "ab12", task: "build/test", x: "y" })).toEqual({
      version: "ab12",
      task: "build/test",
    });
  });
});
