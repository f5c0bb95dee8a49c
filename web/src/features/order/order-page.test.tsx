import { QueryClientProvider } from "@tanstack/react-query";
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from "@tanstack/react-router";
import { act, render, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";

import { orderKeys } from "@/api/orders";
import { refusal, testClient } from "@/api/test-fixtures";
import { OrderPage } from "./order-page";

afterEach(() => vi.unstubAllGlobals());

function show(id: string) {
  const queryClient = testClient();
  const root = createRootRoute();
  const page = createRoute({
    getParentRoute: () => root,
    path: "/orders/$orderId",
    component: OrderPage,
  });
  const router = createRouter({
    routeTree: root.addChildren([page]),
    history: createMemoryHistory({ initialEntries: [`/orders/${id}`] }),
  });
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  return queryClient;
}

it.each([
  [404, "order_unknown", "wo-gone"],
  [422, "validation_failed", "x".repeat(300)],
  [400, "order_prefix_invalid", "wo-!"],
])("finds nothing when the server answers %s %s", async (status, code, id) => {
  vi.stubGlobal("fetch", () => Promise.resolve(refusal(status, code)));
  show(id);
  expect(await screen.findByText("There is no such order")).toBeInTheDocument();
  expect(screen.queryByText(code)).not.toBeInTheDocument();
});

it("keeps saying what is wrong while it asks again", async () => {
  vi.stubGlobal("fetch", () => Promise.resolve(refusal(500, "internal_error")));
  const queryClient = show("wo-1");
  expect(await screen.findByRole("alert")).toBeInTheDocument();
  vi.stubGlobal("fetch", () => new Promise<Response>(() => {}));
  act(() => void queryClient.refetchQueries({ queryKey: orderKeys.detail("wo-1") }));
  await waitFor(() =>
    expect(screen.getByRole("button", { name: "Try again" })).toHaveAttribute("aria-busy"),
  );
  expect(screen.getByRole("alert")).toBeInTheDocument();
});
