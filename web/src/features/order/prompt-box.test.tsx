import { QueryClient } from "@tanstack/react-query";
import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { sessionKeys } from "@/api/session";
import { aSession } from "@/api/test-fixtures";
import { listenForShortcuts } from "@/lib/shortcuts";
import { renderPage } from "@/ui/test-page";
import { PromptBox } from "./prompt-box";
import { serve } from "./test-server";
import { testOrder } from "./test-order";

let stop = () => {};
beforeEach(() => {
  stop = listenForShortcuts(window);
});
afterEach(() => {
  stop();
  vi.unstubAllGlobals();
});

const box = () => screen.findByRole("textbox", { name: "Prompt" });

it("is reached by c and sent by Control and Enter", async () => {
  const asked = serve(() => ({
    status: 202,
    body: {
      agent_work_order_id: "wo-k3v7abcdefgh2345",
      prompt_accepted: true,
      message: "The agent gets it at its next turn",
      prompt_id: "prompt-1",
    },
  }));
  await renderPage(<PromptBox order={testOrder()} />);
  const field = await box();
  await userEvent.keyboard("c");
  expect(field).toHaveFocus();
  await userEvent.keyboard("Use the helper{Control>}{Enter}{/Control}");
  expect(await screen.findByText("The agent gets it at its next turn")).toBeInTheDocument();
  expect(field).toHaveValue("");
  expect(asked).toEqual([
    {
      method: "POST",
      path: "/api/agent-work-orders/wo-k3v7abcdefgh2345/prompt",
      body: { agent_work_order_id: "wo-k3v7abcdefgh2345", prompt_text: "Use the helper" },
    },
  ]);
});

it("keeps the text and says what to do when it is refused", async () => {
  serve(() => ({
    status: 409,
    body: { code: "order_state_conflict", detail: "It has ended", hint: "Create a new order." },
  }));
  await renderPage(<PromptBox order={testOrder({ status: "waiting" })} />);
  const field = await box();
  await userEvent.type(field, "Go on");
  await userEvent.click(screen.getByRole("button", { name: "Send" }));
  expect(await screen.findByText("It has ended")).toBeInTheDocument();
  expect(screen.getByText("Create a new order.")).toBeInTheDocument();
  expect(field).toHaveValue("Go on");
  expect(field).toHaveAttribute("aria-invalid", "true");
});

it("sends nothing that is empty", async () => {
  const asked = serve(() => ({ body: {} }));
  await renderPage(<PromptBox order={testOrder()} />);
  await userEvent.type(await box(), "  {Control>}{Enter}{/Control}");
  expect(screen.getByRole("button", { name: "Send" })).toBeDisabled();
  expect(asked).toEqual([]);
});

it("says why an ended order takes none", async () => {
  await renderPage(<PromptBox order={testOrder({ status: "failed" })} />);
  expect(await screen.findByText(/Retry it first/)).toBeInTheDocument();
  expect(screen.queryByRole("textbox")).not.toBeInTheDocument();
});

it("tells somebody who may only look why there is no field", async () => {
  const queryClient = new QueryClient();
  queryClient.setQueryData(sessionKeys.session(), aSession("viewer"));
  await renderPage(<PromptBox order={testOrder()} />, queryClient);
  expect(await screen.findByText(/signed in as viewer/)).toBeInTheDocument();
  expect(screen.queryByRole("textbox")).not.toBeInTheDocument();
});
