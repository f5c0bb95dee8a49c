import { expect, it } from "vitest";

import { router } from "@/app/router";
import type { OrdersSearch } from "@/app/search";

function pageOf(address: string) {
  const location = router.buildLocation({ href: address } as never);
  const matches = router.matchRoutes(location);
  const last = matches.at(-1);
  return { id: last?.routeId, params: last?.params, search: (last?.search ?? {}) as OrdersSearch };
}

it.each([
  ["/", "/"],
  ["/orders", "/orders"],
  ["/orders/wo-1", "/orders/$orderId"],
  ["/new", "/new"],
  ["/workflows", "/workflows"],
  ["/workflows/fix", "/workflows/$name"],
  ["/approvals", "/approvals/"],
  ["/approvals/wo-1/plan/gate", "/approvals/$"],
  ["/about", "/about"],
  ["/sign-in", "/sign-in"],
])("%s is the page %s", (address, id) => {
  expect(pageOf(address).id).toBe(id);
});

it("keeps the whole id of an approval", () => {
  expect(pageOf("/approvals/wo-1/plan/gate").params).toMatchObject({ _splat: "wo-1/plan/gate" });
});

it("reads filters from the address", () => {
  expect(pageOf("/orders?status=failed&status=running&status=odd&q=12").search).toEqual({
    status: ["failed", "running"],
    q: "12",
  });
});

it("drops a filter that means nothing", () => {
  expect(pageOf("/orders?status=odd").search.status).toBeUndefined();
});
