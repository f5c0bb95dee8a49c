import { act, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { afterEach, describe, expect, it } from "vitest";

import { Button } from "@/ui/button";
import { ConfirmDialog } from "@/ui/confirm-dialog";
import { Dialog } from "@/ui/dialog";
import { Menu, MenuChoices, MenuItem } from "@/ui/menu";
import { TextInput } from "@/ui/text-input";
import { dismissToasts, toast, Toaster } from "@/ui/toast";

describe("Dialog", () => {
  it("begins in its first field, ends with Escape, and gives the focus back", async () => {
    render(
      <Dialog title="Send a prompt" trigger={<Button>Open</Button>}>
        <TextInput aria-label="Prompt" />
      </Dialog>,
    );
    await userEvent.click(screen.getByRole("button", { name: "Open" }));
    expect(screen.getByRole("dialog", { name: "Send a prompt" })).toBeInTheDocument();
    expect(screen.getByLabelText("Prompt")).toHaveFocus();
    await userEvent.keyboard("{Escape}");
    expect(screen.queryByRole("dialog")).not.toBeInTheDocument();
    await waitFor(() => expect(screen.getByRole("button", { name: "Open" })).toHaveFocus());
  });

  it("begins on itself when there is nothing to fill in", async () => {
    render(
      <Dialog open title="Shortcuts">
        text
      </Dialog>,
    );
    await waitFor(() => expect(screen.getByRole("dialog")).toHaveFocus());
  });
});

describe("ConfirmDialog", () => {
  const ask = (onConfirm: () => unknown) =>
    render(
      <ConfirmDialog
        trigger={<Button>Cancel order</Button>}
        title="Cancel this order?"
        description="Its agent is stopped."
        confirmLabel="Cancel it"
        danger
        onConfirm={onConfirm}
      />,
    );

  it("begins on the safe answer and closes when the action succeeded", async () => {
    let done = () => {};
    ask(() => new Promise<void>((resolve) => (done = resolve)));
    await userEvent.click(screen.getByRole("button", { name: "Cancel order" }));
    expect(screen.getByRole("button", { name: "Keep as it is" })).toHaveFocus();
    await userEvent.click(screen.getByRole("button", { name: "Cancel it" }));
    expect(screen.getByRole("button", { name: "Cancel it" })).toHaveAttribute("aria-busy");
    await userEvent.keyboard("{Escape}");
    expect(screen.getByRole("alertdialog")).toBeInTheDocument();
    act(() => done());
    await waitFor(() => expect(screen.queryByRole("alertdialog")).not.toBeInTheDocument());
  });

  it("stays when the action failed", async () => {
    ask(() => Promise.reject(new Error("no")));
    await userEvent.click(screen.getByRole("button", { name: "Cancel order" }));
    await userEvent.click(screen.getByRole("button", { name: "Cancel it" }));
    expect(screen.getByRole("alertdialog", { name: "Cancel this order?" })).toBeInTheDocument();
  });
});

describe("a layer that something other than a button opened", () => {
  function Page({ keepsField = true }: { keepsField?: boolean }) {
    const [open, setOpen] = useState(false);
    return (
      <>
        <h1 tabIndex={-1}>Order</h1>
        {(keepsField || !open) && (
          <input aria-label="Field" onKeyDown={(event) => event.key === "x" && setOpen(true)} />
        )}
        <Menu trigger={<Button>More</Button>}>
          <MenuItem onSelect={() => setOpen(true)}>Cancel…</MenuItem>
        </Menu>
        <ConfirmDialog
          open={open}
          onOpenChange={setOpen}
          title="Cancel?"
          description=""
          confirmLabel="Yes"
          onConfirm={() => {}}
        />
      </>
    );
  }
  const answer = async () => {
    await screen.findByRole("alertdialog");
    await userEvent.click(screen.getByRole("button", { name: "Keep as it is" }));
    await waitFor(() => expect(screen.queryByRole("alertdialog")).not.toBeInTheDocument());
  };

  it("gives the focus back to where it was", async () => {
    render(<Page />);
    screen.getByLabelText("Field").focus();
    await userEvent.keyboard("x");
    await answer();
    await waitFor(() => expect(screen.getByLabelText("Field")).toHaveFocus());
  });

  it("gives it to the heading when that is gone", async () => {
    render(<Page keepsField={false} />);
    screen.getByLabelText("Field").focus();
    await userEvent.keyboard("x");
    await answer();
    await waitFor(() => expect(screen.getByRole("heading")).toHaveFocus());
  });

  it("gives it to the button of the menu that it was chosen from", async () => {
    render(<Page />);
    screen.getByRole("button", { name: "More" }).focus();
    await userEvent.keyboard("{Enter}{Enter}");
    await answer();
    await waitFor(() => expect(screen.getByRole("button", { name: "More" })).toHaveFocus());
  });
});

describe("Menu", () => {
  it("is run by keyboard", async () => {
    const seen: string[] = [];
    render(
      <Menu trigger={<Button>More</Button>}>
        <MenuItem onSelect={() => seen.push("retry")}>Retry</MenuItem>
        <MenuChoices
          label="Theme"
          value="light"
          onChange={(value) => seen.push(value)}
          choices={[
            { value: "light", label: "Light" },
            { value: "dark", label: "Dark" },
          ]}
        />
      </Menu>,
    );
    screen.getByRole("button", { name: "More" }).focus();
    await userEvent.keyboard("{Enter}");
    expect(screen.getByRole("menuitemradio", { name: "Light" })).toBeChecked();
    await userEvent.keyboard("{End}{Enter}");
    await userEvent.keyboard("{Enter}{Enter}");
    expect(seen).toEqual(["dark", "retry"]);
  });
});

describe("toasts", () => {
  afterEach(() => act(() => dismissToasts()));

  it("show hostile text as text, once, and end when dismissed", async () => {
    render(<Toaster />);
    act(() => {
      toast({ title: "<b>a\u202Eb</b>", tone: "bad" });
      toast({ title: "<b>a\u202Eb</b>", tone: "bad" });
    });
    expect(screen.getAllByText("<b>a⟨U+202E⟩b</b>")).toHaveLength(1);
    await userEvent.click(screen.getByRole("button", { name: "Dismiss" }));
    expect(screen.queryByText("<b>a⟨U+202E⟩b</b>")).not.toBeInTheDocument();
  });

  it("offer one action and never pile up", async () => {
    let undone = 0;
    render(<Toaster />);
    act(() => {
      for (let n = 1; n <= 6; n++) toast({ title: `Message ${n}` });
      toast({ title: "Paused", action: { label: "Resume", onSelect: () => (undone += 1) } });
    });
    expect(screen.queryByText("Message 3")).not.toBeInTheDocument();
    expect(screen.getByText("Message 6")).toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Resume" }));
    expect(undone).toBe(1);
    expect(screen.queryByText("Paused")).not.toBeInTheDocument();
  });
});
