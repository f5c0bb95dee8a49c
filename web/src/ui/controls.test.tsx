import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { Plus } from "lucide-react";
import { useState } from "react";
import { describe, expect, it } from "vitest";

import { Button } from "@/ui/button";
import { Checkbox } from "@/ui/checkbox";
import { CopyButton } from "@/ui/copy-button";
import { Field } from "@/ui/field";
import { IconButton } from "@/ui/icon-button";
import { OutsideLink } from "@/ui/link";
import { RadioCards } from "@/ui/radio-cards";
import { Select } from "@/ui/select";
import { TextInput } from "@/ui/text-input";

describe("Button", () => {
  it("does nothing while busy, and keeps the focus", async () => {
    let pressed = 0;
    const view = render(<Button onClick={() => (pressed += 1)}>Save</Button>);
    await userEvent.click(screen.getByRole("button", { name: "Save" }));
    view.rerender(
      <Button busy onClick={() => (pressed += 1)}>
        Save
      </Button>,
    );
    await userEvent.click(screen.getByRole("button", { name: "Save" }));
    expect(pressed).toBe(1);
    expect(screen.getByRole("button")).toHaveFocus();
    expect(screen.getByRole("button")).toHaveAttribute("aria-busy", "true");
  });

  it("does not send a form while busy", async () => {
    let sent = 0;
    render(
      <form
        onSubmit={(event) => {
          event.preventDefault();
          sent += 1;
        }}
      >
        <Button type="submit" busy>
          Send
        </Button>
      </form>,
    );
    await userEvent.click(screen.getByRole("button"));
    expect(sent).toBe(0);
  });

  it("has a name when it is only an icon", () => {
    render(<IconButton label="Add a row" icon={Plus} />);
    expect(screen.getByRole("button", { name: "Add a row" })).toBeInTheDocument();
  });
});

describe("Field", () => {
  it("ties the label, the hint and the error to its control", () => {
    render(
      <Field label="Repository" hint="A path or a URL" error="There is no such folder" required>
        <TextInput />
      </Field>,
    );
    const input = screen.getByRole("textbox", { name: "Repository" });
    expect(input).toBeRequired();
    expect(input).toBeInvalid();
    expect(input).toHaveAccessibleDescription("A path or a URL There is no such folder");
    expect(screen.getByRole("alert")).toHaveTextContent("There is no such folder");
  });

  it("works with a list", async () => {
    const seen: string[] = [];
    render(
      <Field label="Workflow">
        <Select
          options={[
            { value: "a", label: "First" },
            { value: "b", label: "Second" },
          ]}
          onValueChange={(value) => seen.push(value)}
        />
      </Field>,
    );
    await userEvent.selectOptions(screen.getByRole("combobox", { name: /Workflow/ }), "Second");
    expect(seen).toEqual(["b"]);
  });
});

describe("choices", () => {
  function Choices() {
    const [value, setValue] = useState<"worktree" | "docker" | null>("worktree");
    const [on, setOn] = useState(false);
    return (
      <>
        <RadioCards
          label="Sandbox"
          value={value}
          onValueChange={setValue}
          cards={[
            { value: "worktree", title: "Worktree", description: "Files only" },
            { value: "docker", title: "Docker", description: "Files and network" },
          ]}
        />
        <Checkbox label="Push" hint="To the remote" checked={on} onCheckedChange={setOn} />
      </>
    );
  }

  it("are named with all that they say, and moved by arrows", async () => {
    render(<Choices />);
    const first = screen.getByRole("radio", { name: "Worktree Files only" });
    first.focus();
    // Radix moves the focus to the next one after the key, in its own turn.
    await userEvent.keyboard("{ArrowDown}");
    await expect.poll(() => document.activeElement?.textContent).toContain("Docker");
    await userEvent.click(screen.getByText("Push"));
    expect(screen.getByRole("checkbox", { name: "Push" })).toBeChecked();
  });
});

describe("OutsideLink", () => {
  it("is a link only for http and https", () => {
    render(
      <>
        <OutsideLink href="https://example.com/x">good</OutsideLink>
        <OutsideLink href="javascript:alert(1)">bad</OutsideLink>
        <OutsideLink href={null}>none</OutsideLink>
      </>,
    );
    const link = screen.getByRole("link");
    expect(link).toHaveTextContent("good");
    expect(link).toHaveAttribute("rel", "noopener noreferrer");
    expect(screen.getByText("bad").tagName).toBe("SPAN");
  });
});

describe("CopyButton", () => {
  it("copies and says so", async () => {
    const user = userEvent.setup();
    render(<CopyButton text={() => "abc"} label="Copy the id" />);
    await user.click(screen.getByRole("button", { name: "Copy the id" }));
    expect(await navigator.clipboard.readText()).toBe("abc");
    expect(screen.getByRole("status")).toHaveTextContent("Copied");
  });
});
