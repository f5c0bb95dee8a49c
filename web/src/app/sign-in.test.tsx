import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";

import { refusal } from "@/api/test-fixtures";
import { createQueryClient } from "@/app/query-client";
import { SignInPage } from "@/features/sign-in/sign-in-page";
import { renderPages } from "@/ui/test-page";
import { dismissToasts } from "@/ui/toast";

afterEach(() => {
  dismissToasts();
  vi.unstubAllGlobals();
});

it("says once why somebody was not signed in", async () => {
  vi.stubGlobal("fetch", () => Promise.resolve(refusal(429, "too_many_requests")));
  const queryClient = createQueryClient(() => {});
  await renderPages({ "/sign-in": SignInPage }, { at: "/sign-in", queryClient });
  await userEvent.type(screen.getByLabelText("API key"), "awo_wrong");
  await userEvent.click(screen.getByRole("button", { name: "Sign in" }));
  expect(await screen.findByText("too_many_requests")).toBeInTheDocument();
  expect(screen.getAllByText("No")).toHaveLength(1);
});
