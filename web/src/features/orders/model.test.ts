import { describe, expect, it } from "vitest";

import {
  agentName,
  choices,
  countText,
  filterOf,
  isFiltered,
  pressed,
  priorityWord,
  readVisibility,
  SORTINGS,
  sortingFrom,
  sortingOf,
  withSorting,
  withStatus,
  withText,
  workflowWord,
  writeVisibility,
} from "./model";

describe("the filter", () => {
  it("asks for nothing that the server would refuse", () => {
    const filter = filterOf({
      q: ` ${"x".repeat(300)}`,
      workflow: "w".repeat(99),
      repository: " ",
    });
    expect(filter.q).toHaveLength(200);
    expect(filter.workflow).toHaveLength(64);
    expect(filter.repository).toBeUndefined();
    expect(filterOf({ status: ["failed", "nonsense" as "failed"] }).status).toEqual(["failed"]);
  });

  it("knows whether it hides something", () => {
    expect(isFiltered({})).toBe(false);
    expect(isFiltered({ status: [], q: "  " })).toBe(false);
    expect(isFiltered({ status: ["failed"] })).toBe(true);
    expect(isFiltered({ repository: "a/b" })).toBe(true);
  });

  it("adds and takes statuses, always in one order", () => {
    const both = withStatus({ status: ["failed"], q: "x" }, "running", true);
    expect(both).toEqual({ status: ["running", "failed"], q: "x" });
    expect(withStatus({ status: ["failed"] }, "failed", false)).toEqual({ status: undefined });
    expect(withStatus({ status: ["failed"] }, "failed", true).status).toEqual(["failed"]);
  });

  it("keeps the rest when a text changes", () => {
    expect(withText({ status: ["failed"] }, "q", " basket ")).toEqual({
      status: ["failed"],
      q: "basket",
    });
    expect(withText({ q: "a", workflow: "w" }, "q", " ")).toEqual({ q: undefined, workflow: "w" });
  });
});

it("always offers what is chosen", () => {
  expect(choices(["b", "a", "b", ""], "c")).toEqual(["a", "b", "c"]);
  expect(choices([], undefined)).toEqual([]);
});

it("counts in words", () => {
  expect(countText(10011, false)).toBe("10,011 work orders");
  expect(countText(1, false)).toBe("1 work order");
  expect(countText(1, true)).toBe("1 work order matches");
  expect(countText(0, true)).toBe("0 work orders match");
});

describe("columns", () => {
  it("remembers what is hidden", () => {
    const shown = { ...readVisibility(null), cost: false, agent: true };
    expect(readVisibility(writeVisibility(shown))).toEqual(shown);
  });

  it("is as at first when what was kept is nonsense", () => {
    const first = readVisibility(null);
    expect(first).toMatchObject({ title: true, agent: false, priority: false, cost: true });
    for (const text of ["", "{", "null", "7", '{"a":1}']) {
      expect(readVisibility(text)).toEqual(first);
    }
  });

  it("never hides what an order is known by", () => {
    expect(readVisibility('["title","status","nothing",3]')).toMatchObject({
      title: true,
      status: true,
    });
  });
});

it("survives agents and priorities that it does not know", () => {
  expect(agentName({ name: "scripted" })).toBe("scripted");
  expect(workflowWord("agent_workflow_plan_build")).toBe("plan_build");
  expect(workflowWord("agent_workflow_")).toBe("agent_workflow_");
  expect(agentName({ name: 3 })).toBe("");
  expect(priorityWord("urgent")).toBe("Urgent");
  expect(priorityWord("toString")).toBe("toString");
});

describe("sorting", () => {
  it("is newest first, and says nothing of that in the address", () => {
    expect(sortingOf({})).toEqual({ by: "created_at", direction: "desc" });
    expect(withSorting({ q: "x" }, sortingOf({}))).toEqual({ q: "x" });
    expect(isFiltered({ sort: "updated_at", order: "asc" })).toBe(false);
  });

  it("goes round with each press of a column", () => {
    const first = pressed(sortingOf({}), "updated_at");
    expect(first).toEqual({ by: "updated_at", direction: "desc" });
    expect(pressed(first, "updated_at")).toEqual({ by: "updated_at", direction: "asc" });
    expect(pressed(pressed(first, "updated_at"), "updated_at")).toEqual(first);
  });

  it("reads its own choices", () => {
    for (const { value } of SORTINGS) {
      const { by, direction } = sortingFrom(value);
      expect(`${by} ${direction}`).toBe(value);
    }
  });
});
