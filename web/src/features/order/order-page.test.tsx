import { act, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";

import { orderKeys } from "@/api/orders";
import { refusal, testClient } from "@/api/test-fixtures";
import { renderPages } from "@/ui/test-page";
import { OrderPage } from "./order-page";

afterEach(() => vi.unstubAllGlobals());

const show = (id: string) =>
  renderPages(
    { "/orders/$orderId": OrderPage },
    { at: `/orders/${id}`, queryClient: testClient() },
  );

it.each([
  [404, "order_unknown", "wo-gone"],
  [422, "validation_failed", "x".repeat(300)],
  [400, "order_prefix_invalid", "wo-!"],
])("finds nothing when the server answers %s %s", async (status, code, id) => {
  vi.stubGlobal("fetch", () => Promise.resolve(refusal(status, code)));
  await show(id);
  expect(await screen.findByText("There is no such order")).toBeInTheDocument();
  expect(screen.queryByText(code)).not.toBeInTheDocument();
});

it("keeps saying what is wrong while it asks again", async () => {
  vi.stubGlobal("fetch", () => Promise.resolve(refusal(500, "internal_error")));
  const { queryClient } = await show("wo-1");
  expect(await screen.findByRole("alert")).toBeInTheDocument();
  vi.stubGlobal("fetch", () => new Promise<Response>(() => {}));
  act(() => void queryClient.refetchQueries({ queryKey: orderKeys.detail("wo-1") }));
  await waitFor(() =>
    expect(screen.getByRole("button", { name: "Try again" })).toHaveAttribute("aria-busy"),
  );
  expect(screen.getByRole("alert")).toBeInTheDocument();
});
