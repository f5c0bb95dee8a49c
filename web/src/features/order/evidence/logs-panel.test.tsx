import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { aLog } from "@/api/test-fixtures";
import { renderPage } from "@/ui/test-page";
import type { EvidenceView } from "../model";
import { testOrder } from "../test-order";
import { LogsPanel } from "./logs-panel";

let asked: URL[] = [];
beforeEach(() => {
  asked = [];
  // Nothing has a size in jsdom, and a list without one draws no row.
  vi.spyOn(Element.prototype, "clientHeight", "get").mockReturnValue(480);
  vi.spyOn(Element.prototype, "clientWidth", "get").mockReturnValue(1000);
  vi.stubGlobal("fetch", (request: Request) => {
    const url = new URL(request.url);
    asked.push(url);
    const body = url.searchParams.get("q") === "nothing" ? aLog(1, 0) : aLog(1, 3);
    return Promise.resolve(Response.json(body));
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

async function show(address: EvidenceView = {}) {
  const seen: { view: EvidenceView } = { view: address };
  function Page() {
    const [view, setView] = useState(address);
    seen.view = view;
    return (
      <LogsPanel
        orderId="wo-1"
        order={testOrder()}
        view={view}
        onView={(change) => setView((old) => ({ ...old, ...change }))}
      />
    );
  }
  await renderPage(<Page />);
  return seen;
}

it("asks for what the address says, and shows that it does", async () => {
  await show({ level: "error", q: "tests", follow: "off" });
  await screen.findByText("3 matching lines");
  expect(asked[0]?.searchParams.get("level")).toBe("error");
  expect(asked[0]?.searchParams.get("q")).toBe("tests");
  expect(screen.getByLabelText("Search the log")).toHaveValue("tests");
  expect(screen.getByRole("checkbox", { name: "Follow" })).not.toBeChecked();
});

it("writes a search and whether to follow into the address", async () => {
  const seen = await show();
  await screen.findByText("3 lines");
  expect(screen.getByRole("checkbox", { name: "Follow" })).toBeChecked();
  await userEvent.click(screen.getByRole("checkbox", { name: "Follow" }));
  expect(seen.view).toEqual({ follow: "off" });
  await userEvent.type(screen.getByLabelText("Search the log"), " nothing{Enter}");
  expect(seen.view).toEqual({ follow: "off", q: "nothing" });
  await userEvent.click(await screen.findByRole("button", { name: "Show all lines" }));
  await screen.findByText("3 lines");
  await waitFor(() => expect(screen.getByLabelText("Search the log")).toHaveValue(""));
});

it("unfolds a line to its fields", async () => {
  await show();
  await screen.findByText("3 lines");
  await userEvent.click(screen.getAllByRole("button", { expanded: false })[0]!);
  expect(screen.getByText("agent_work_order_id")).toBeInTheDocument();
});
