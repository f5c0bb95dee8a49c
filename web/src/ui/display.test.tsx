import { act, render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";

import { ORDER_STATUSES, TASK_STATES, type OrderStatus } from "@/lib/states";
import { ErrorState } from "@/ui/error-state";
import { PageHeader } from "@/ui/page-header";
import { SafeText } from "@/ui/safe-text";
import { StatusBadge, TaskStateBadge } from "@/ui/status-badge";
import { RelativeTime } from "@/ui/time";
import { VirtualList } from "@/ui/virtual-list";
import { renderPages } from "@/ui/test-page";

describe("states", () => {
  it.each(ORDER_STATUSES)("of an order: %s has a word and an icon", (status) => {
    const { container } = render(<StatusBadge status={status} />);
    expect(container.textContent).not.toBe("");
    expect(container.querySelector("svg")).not.toBeNull();
  });

  it.each(TASK_STATES)("of a task: %s has a word and an icon", (state) => {
    const { container } = render(<TaskStateBadge state={state} />);
    expect(container.textContent).not.toContain("_");
    expect(container.querySelector("svg")).not.toBeNull();
  });

  it("of a newer server are shown by name", () => {
    render(<StatusBadge status={"hibernating" as OrderStatus} />);
    expect(screen.getByText("hibernating")).toBeInTheDocument();
  });
});

describe("SafeText", () => {
  it("shows markup, hides control characters and isolates the direction", () => {
    render(<SafeText text={"<script>\u0000x\u202E</script>"} />);
    const shown = screen.getByText("<script>x⟨U+202E⟩</script>");
    expect(shown.tagName).toBe("BDI");
    expect(document.querySelector("bdi script")).toBeNull();
  });
});

describe("ErrorState", () => {
  it("says what happened, what to do, and what to quote", async () => {
    let retried = 0;
    render(
      <ErrorState
        error={{ detail: "No such order", hint: "Run `awo list`.", code: "gone", requestId: "r-1" }}
        onRetry={() => (retried += 1)}
      />,
    );
    const alert = within(screen.getByRole("alert"));
    expect(alert.getByText("No such order")).toBeInTheDocument();
    expect(alert.getByText("awo list").tagName).toBe("CODE");
    expect(alert.getByText("gone")).toBeInTheDocument();
    expect(alert.getByText("r-1")).toBeInTheDocument();
    await userEvent.click(alert.getByRole("button", { name: "Try again" }));
    expect(retried).toBe(1);
  });

  it("can show anything that was thrown", () => {
    render(<ErrorState error={undefined} />);
    expect(screen.getByRole("alert")).toHaveTextContent("Something went wrong here.");
  });
});

describe("PageHeader", () => {
  it("names the tab, and takes the focus after a navigation but not at first", async () => {
    const { router } = await renderPages({
      "/": () => <PageHeader title="Inbox" />,
      "/orders": () => <PageHeader title="Work orders" />,
      "/new": () => (
        <main>
          <input aria-label="prompt" autoFocus />
          <PageHeader title="New" />
        </main>
      ),
    });
    expect(await screen.findByRole("heading", { name: "Inbox" })).toBeInTheDocument();
    expect(document.title).toBe("Inbox · Agent Work Orders");
    expect(document.body).toHaveFocus();
    await act(() => router.navigate({ to: "/orders" }));
    const heading = await screen.findByRole("heading", { level: 1, name: "Work orders" });
    await waitFor(() => expect(heading).toHaveFocus());
    await act(() => router.navigate({ to: "/new" }));
    expect(await screen.findByRole("heading", { name: "New" })).toBeInTheDocument();
    expect(screen.getByLabelText("prompt")).toHaveFocus();
  });
});

describe("RelativeTime", () => {
  it("carries the exact time, and says when there is none", () => {
    render(
      <>
        <RelativeTime value="2024-03-01T12:00:00Z" />
        <RelativeTime value={null} none="never" />
      </>,
    );
    const time = document.querySelector("time");
    expect(time).toHaveAttribute("datetime", "2024-03-01T12:00:00Z");
    expect(time?.title).toMatch(/2024/);
    expect(screen.getByText("never")).toBeInTheDocument();
  });
});

describe("VirtualList", () => {
  it("is a named region that the keyboard reaches, with few of many rows", () => {
    render(
      <VirtualList
        label="Log"
        count={100_000}
        estimateSize={20}
        renderRow={(index) => <span>line {index}</span>}
      />,
    );
    const region = screen.getByRole("region", { name: "Log" });
    expect(region).toHaveAttribute("tabindex", "0");
    expect(region.querySelectorAll("[data-index]").length).toBeLessThan(100);
  });
});
