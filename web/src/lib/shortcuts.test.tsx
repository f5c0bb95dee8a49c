import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it } from "vitest";

import { listenForShortcuts, useAllShortcuts, useShortcuts } from "@/lib/shortcuts";

let seen: string[] = [];
let stop = () => {};

beforeEach(() => {
  seen = [];
  stop = listenForShortcuts(window);
});
afterEach(() => stop());

function Page({ name }: { name: string }) {
  useShortcuts([
    { keys: "g i", label: "Inbox", run: () => seen.push(`${name} inbox`) },
    { keys: "n", label: "New", run: () => seen.push(`${name} new`) },
    { keys: "mod+k", label: "Palette", whileTyping: true, run: () => seen.push("palette") },
  ]);
  return <input aria-label="field" />;
}

function Sheet() {
  return (
    <p>
      {useAllShortcuts()
        .map((one) => one.label)
        .join(",")}
    </p>
  );
}

it("runs single keys and sequences with what is on screen now", async () => {
  const view = render(<Page name="first" />);
  view.rerender(<Page name="second" />);
  await userEvent.keyboard("gin");
  expect(seen).toEqual(["second inbox", "second new"]);
});

it("leaves keys to a field, but for those that write nothing", async () => {
  render(<Page name="page" />);
  await userEvent.type(screen.getByLabelText("field"), "n");
  expect(seen).toEqual([]);
  await userEvent.keyboard("{Control>}k{/Control}");
  expect(seen).toEqual(["palette"]);
  expect(screen.getByLabelText("field")).toHaveValue("n");
});

it("gives a key to the page that asked last, and lists it once", async () => {
  render(
    <>
      <Page name="outer" />
      <Page name="inner" />
      <Sheet />
    </>,
  );
  await userEvent.keyboard("n");
  expect(seen).toEqual(["inner new"]);
  expect(screen.getByText("Inbox,New,Palette")).toBeInTheDocument();
});

it("is silent behind a dialog and after the page is gone", async () => {
  const view = render(
    <>
      <Page name="page" />
      <div role="dialog" />
    </>,
  );
  await userEvent.keyboard("n");
  expect(seen).toEqual([]);
  view.unmount();
  await userEvent.keyboard("n");
  expect(seen).toEqual([]);
});

it("is silent while anything loads, and until whoever typed meanwhile rests", async () => {
  const view = render(
    <>
      <Page name="page" />
      <p aria-busy="true" />
    </>,
  );
  await userEvent.keyboard("n");
  view.rerender(<Page name="page" />);
  await userEvent.keyboard("nn");
  expect(seen).toEqual([]);
  // A key that writes nothing ends what was typed.
  await userEvent.keyboard("{Tab}{Escape}");
  screen.getByLabelText("field").blur();
  await userEvent.keyboard("n");
  expect(seen).toEqual(["page new"]);
});

it("steers nothing with what was typed into a field that is gone", async () => {
  const view = render(
    <>
      <Page name="page" />
      <textarea aria-label="prompt" />
    </>,
  );
  await userEvent.type(screen.getByLabelText("prompt"), "say");
  view.rerender(<Page name="page" />);
  expect(document.body).toHaveFocus();
  await userEvent.keyboard("n");
  expect(seen).toEqual([]);
});
