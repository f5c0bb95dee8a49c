import { describe, expect, it } from "vitest";

import type { WorkflowInput, WorkflowSummary } from "@/api/types";

import {
  emptyDraft,
  errorsOf,
  fieldOf,
  joinWords,
  readInput,
  requestOf,
  splitWords,
  type Draft,
} from "./model";

function input(given: Partial<WorkflowInput>): WorkflowInput {
  return {
    type: "string",
    required: false,
    default: null,
    items: null,
    description: "",
    enum: null,
    ...given,
  };
}

function workflow(inputs: Record<string, WorkflowInput> = {}): WorkflowSummary {
  return { name: "w", description: "", kind: "custom", origin: "user", aliases: [], inputs };
}

const DRAFT: Draft = {
  ...emptyDraft({ repository: " /srv/repo ", prompt: " Fix it \n" }),
  workflow: "w",
};

describe("errorsOf", () => {
  it("asks for a repository and a workflow", () => {
    expect(Object.keys(errorsOf(emptyDraft({}), undefined))).toEqual([
      "repository_url",
      "workflow_type",
    ]);
    expect(errorsOf(DRAFT, workflow())).toEqual({});
  });

  it("names the input that is missing or cannot be read", () => {
    const wanted = workflow({ count: input({ type: "integer", required: true }), note: input({}) });
    expect(errorsOf(DRAFT, wanted)).toHaveProperty(["inputs.count"]);
    const typed = { ...DRAFT, inputs: { count: "three" } };
    expect(errorsOf(typed, wanted)["inputs.count"]).toContain("whole number");
    expect(errorsOf({ ...DRAFT, inputs: { count: "3" } }, wanted)).toEqual({});
  });

  it("wants what an agent needs", () => {
    expect(errorsOf({ ...DRAFT, agent: "command" }, workflow())).toHaveProperty("agent");
    expect(errorsOf({ ...DRAFT, agent: "scripted", agentScript: "x" }, workflow())).toEqual({});
  });

  it("takes only digits for an issue", () => {
    expect(errorsOf({ ...DRAFT, issue: "#4" }, workflow())).toHaveProperty("github_issue_number");
  });
});

describe("readInput", () => {
  it.each([
    ["string", " a ", " a "],
    ["boolean", "true", true],
    ["integer", "-12", -12],
    ["number", "1.5", 1.5],
    ["list", "a, b", ["a", "b"]],
    ["list", "a,b,", ["a", "b"]],
    ["list", "[1, 2]", [1, 2]],
    ["object", '{"a": 1}', { a: 1 }],
  ])("reads %s %j", (type, text, value) => {
    expect(readInput(text, input({ type }))).toEqual({ ok: true, value });
  });

  it.each([
    ["boolean", "maybe"],
    ["integer", "1.5"],
    ["number", "Infinity"],
    ["object", "{"],
  ])("refuses %s %j with a hint", (type, text) => {
    expect(readInput(text, input({ type }))).toMatchObject({ ok: false });
  });
});

describe("requestOf", () => {
  it("sends only what was filled in", () => {
    expect(requestOf(DRAFT, workflow({ note: input({}) }))).toEqual({
      repository_url: "/srv/repo",
      workflow_type: "w",
      priority: "medium",
      initial_prompt: "Fix it",
    });
  });

  it("sends inputs by type and agents with their options", () => {
    const draft = {
      ...DRAFT,
      agent: "command",
      agentCommand: "my 'own agent' {prompt_file}",
      inputs: { n: "2" },
    };
    const request = requestOf(draft, workflow({ n: input({ type: "integer" }) }));
    expect(request.inputs).toEqual({ n: 2 });
    expect(request.agent).toEqual({ name: "command", argv: ["my", "own agent", "{prompt_file}"] });
  });
});

describe("words", () => {
  it("splits as a shell does, without expanding anything", () => {
    expect(splitWords(`a "b c" 'd "e' f\\ g $HOME "" `)).toEqual([
      "a",
      "b c",
      'd "e',
      "f g",
      "$HOME",
      "",
    ]);
  });

  it("joins so that splitting gives the same words", () => {
    const words = ["a b", "it's", "{prompt}", "", "x"];
    expect(splitWords(joinWords(words))).toEqual(words);
  });
});

describe("fieldOf", () => {
  it("finds the field of the form", () => {
    expect(fieldOf("body.repository_url")).toBe("repository_url");
    expect(fieldOf("inputs.count.0")).toBe("inputs.count");
    expect(fieldOf("agent.argv")).toBe("agent");
    expect(fieldOf("argv")).toBe("agent");
    expect(fieldOf("something_else")).toBeNull();
    expect(fieldOf(null)).toBeNull();
  });
});
