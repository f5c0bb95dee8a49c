import { describe, expect, it } from "vitest";

import { move, search } from "@/app/palette-model";

const COMMANDS = [
  { id: "inbox", label: "Inbox", group: "Go to", words: "home needs you" },
  { id: "orders", label: "Work orders", group: "Go to", words: "list" },
  { id: "new", label: "New work order", group: "Do", words: "create start" },
  { id: "dark", label: "Theme: dark", group: "Do", words: "night" },
];
const found = (query: string) => search(COMMANDS, query).map((one) => one.id);

describe("the command palette", () => {
  it("shows everything for an empty query, in order", () => {
    expect(found("  ")).toEqual(["inbox", "orders", "new", "dark"]);
  });

  it("finds by the beginning of words first, then inside and by other words", () => {
    expect(found("order")).toEqual(["orders", "new"]);
    expect(found("NEW")).toEqual(["new"]);
    expect(found("create")).toEqual(["new"]);
    expect(found("arch")).toEqual([]);
    expect(found("ark")).toEqual(["dark"]);
  });

  it("wants every word", () => {
    expect(found("new order")).toEqual(["new"]);
    expect(found("new inbox")).toEqual([]);
  });

  it("goes round with the arrows", () => {
    expect(move("ArrowDown", 3, 4)).toBe(0);
    expect(move("ArrowUp", 0, 4)).toBe(3);
    expect(move("End", 0, 4)).toBe(3);
    expect(move("ArrowDown", 0, 0)).toBeNull();
    expect(move("a", 0, 4)).toBeNull();
  });
});
