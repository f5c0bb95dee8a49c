import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";

import { sessionKeys } from "@/api/session";
import { anOrder, aPage, aSession, json, refusal, testClient } from "@/api/test-fixtures";
import { Palette } from "@/app/palette";
import type { Role } from "@/lib/roles";
import { renderPages } from "@/ui/test-page";

afterEach(() => vi.unstubAllGlobals());

async function show(role: Role = "operator") {
  const closed = vi.fn();
  const queryClient = testClient();
  queryClient.setQueryData(sessionKeys.session(), aSession(role));
  const { router } = await renderPages(
    {
      "/": () => <Palette onClose={closed} onShortcuts={() => {}} />,
      "/new": () => null,
      "/about": () => null,
      "/orders/$orderId": () => null,
    },
    { queryClient },
  );
  return { router, closed, field: await screen.findByRole("combobox") };
}

const chosen = () => screen.getByRole("option", { selected: true });

it("chooses by arrows while the focus stays in the field, and goes by Enter", async () => {
  const { router, closed, field } = await show();
  expect(field).toHaveFocus();
  expect(chosen()).toHaveTextContent("New work order");
  await userEvent.keyboard("{ArrowUp}{ArrowDown}{ArrowDown}");
  expect(chosen()).toHaveTextContent("Inbox");
  expect(field).toHaveAttribute("aria-activedescendant", chosen().id);
  await userEvent.keyboard("about");
  expect(chosen()).toHaveTextContent("About");
  await userEvent.keyboard("{Enter}");
  await waitFor(() => expect(router.state.location.pathname).toBe("/about"));
  expect(closed).toHaveBeenCalledOnce();
});

it("finds orders, and shows their titles as text", async () => {
  vi.stubGlobal("fetch", () =>
    Promise.resolve(json(aPage([anOrder(7, { title: "<img src=x> \u202Etotal" })]))),
  );
  const { router } = await show();
  await userEvent.keyboard("total");
  await userEvent.click(await screen.findByText("<img src=x> ⟨U+202E⟩total"));
  await waitFor(() => expect(router.state.location.pathname).toBe("/orders/wo-7"));
});

it("says when orders cannot be searched, and still knows its commands", async () => {
  vi.stubGlobal("fetch", () => Promise.resolve(refusal(503, "busy")));
  await show();
  await userEvent.keyboard("theme");
  expect(await screen.findByText("Work orders could not be searched.")).toBeInTheDocument();
  expect(screen.getByRole("option", { name: /Theme: dark/ })).toBeInTheDocument();
});

it("offers no new order to a viewer", async () => {
  await show("viewer");
  expect(screen.queryByRole("option", { name: /New work order/ })).not.toBeInTheDocument();
  expect(screen.getByRole("option", { name: /Inbox/ })).toBeInTheDocument();
});
