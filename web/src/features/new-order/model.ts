import type { NewOrder, Order, WorkflowInput, WorkflowSummary } from "@/api/types";

/** What the form holds: texts as they were typed. `inputs` by the names of the workflow's inputs. */
export interface Draft {
  repository: string;
  baseBranch: string;
  workflow: string;
  prompt: string;
  issue: string;
  title: string;
  sandbox: string;
  agent: string;
  agentCommand: string;
  agentScript: string;
  priority: Priority;
  inputs: Record<string, string>;
}

export const PRIORITIES = ["low", "medium", "high", "urgent"] as const;
export type Priority = (typeof PRIORITIES)[number];

/** By the server's name of the field, so that its refusals find their place. */
export type Errors = Readonly<Record<string, string>>;

export const PREFERRED_WORKFLOW = "agent_workflow_plan_build_test";

export function emptyDraft(given: {
  repository?: string;
  workflow?: string;
  prompt?: string;
}): Draft {
  return {
    repository: given.repository ?? "",
    baseBranch: "",
    workflow: given.workflow ?? "",
    prompt: given.prompt ?? "",
    issue: "",
    title: "",
    sandbox: "",
    agent: "",
    agentCommand: "",
    agentScript: "",
    priority: "medium",
    inputs: {},
  };
}

/** The same work once more. What an order does not tell (its inputs) is left to fill in. */
export function draftFrom(order: Order): Draft {
  const agent = order.agent;
  return {
    ...emptyDraft({ repository: order.repository_url, workflow: order.workflow_type }),
    baseBranch: order.base_branch ?? "",
    prompt: order.initial_prompt ?? "",
    issue: order.github_issue_number ?? "",
    title: order.title ?? "",
    sandbox: order.sandbox_type,
    agent: typeof agent["name"] === "string" ? agent["name"] : "",
    agentCommand: Array.isArray(agent["argv"]) ? joinWords(agent["argv"]) : "",
    agentScript: typeof agent["script"] === "string" ? agent["script"] : "",
    priority: isPriority(order.priority) ? order.priority : "medium",
  };
}

export function isPriority(value: unknown): value is Priority {
  return (PRIORITIES as readonly unknown[]).includes(value);
}

/** What can be said before the server is asked; the server has the last word. */
export function errorsOf(draft: Draft, workflow: WorkflowSummary | undefined): Errors {
  const errors: Record<string, string> = {};
  if (draft.repository.trim() === "") {
    errors["repository_url"] = "Give the address of a repository, or a path on the server.";
  }
  if (workflow === undefined) errors["workflow_type"] = "Choose a workflow.";
  if (draft.issue.trim() !== "" && !/^\d{1,12}$/.test(draft.issue.trim())) {
    errors["github_issue_number"] = "Write the number of the issue: digits only.";
  }
  if (draft.agent === "command" && draft.agentCommand.trim() === "") {
    errors["agent"] = "Give the command that starts the agent.";
  }
  if (draft.agent === "scripted" && draft.agentScript.trim() === "") {
    errors["agent"] = "Give the script that the agent follows.";
  }
  for (const [name, input] of Object.entries(workflow?.inputs ?? {})) {
    const wrong = inputError(draft.inputs[name] ?? "", input);
    if (wrong !== null) errors[`inputs.${name}`] = wrong;
  }
  return errors;
}

function inputError(text: string, input: WorkflowInput): string | null {
  if (text.trim() === "") return input.required ? "This workflow needs it." : null;
  const read = readInput(text, input);
  return read.ok ? null : read.hint;
}

type Read = { ok: true; value: unknown } | { ok: false; hint: string };

/** A typed text as a value of the input's type, as `awo run --input` reads it. */
export function readInput(text: string, input: WorkflowInput): Read {
  const trimmed = text.trim();
  switch (input.type) {
    case "string":
      return { ok: true, value: text };
    case "boolean":
      if (trimmed !== "true" && trimmed !== "false")
        return { ok: false, hint: "Choose yes or no." };
      return { ok: true, value: trimmed === "true" };
    case "integer":
      if (!/^[-+]?\d{1,15}$/.test(trimmed)) return { ok: false, hint: "Write a whole number." };
      return { ok: true, value: Number(trimmed) };
    case "number": {
      const value = Number(trimmed);
      if (!Number.isFinite(value)) return { ok: false, hint: "Write a number." };
      return { ok: true, value };
    }
    case "list":
      if ((input.items === null || input.items === "string") && !trimmed.startsWith("[")) {
        const parts = trimmed.split(/[,\n]/).map((part) => part.trim());
        // An empty one is a comma too many; as JSON it can be said.
        return { ok: true, value: parts.filter((part) => part !== "") };
      }
      return readJson(trimmed, Array.isArray, "Write a list as JSON, such as [1, 2].");
    default:
      return readJson(trimmed, () => true, 'Write it as JSON, such as {"name": "value"}.');
  }
}

function readJson(text: string, accept: (value: unknown) => boolean, hint: string): Read {
  try {
    const value: unknown = JSON.parse(text);
    return accept(value) ? { ok: true, value } : { ok: false, hint };
  } catch {
    return { ok: false, hint };
  }
}

/** The request. Only what was filled in; the server's defaults stand for the rest. */
export function requestOf(draft: Draft, workflow: WorkflowSummary): NewOrder {
  const request: NewOrder = {
    repository_url: draft.repository.trim(),
    workflow_type: workflow.name,
    priority: draft.priority,
  };
  if (draft.sandbox !== "") request.sandbox_type = draft.sandbox;
  if (draft.prompt.trim() !== "") request.initial_prompt = draft.prompt.trim();
  if (draft.issue.trim() !== "") request.github_issue_number = draft.issue.trim();
  if (draft.title.trim() !== "") request.title = draft.title.trim();
  if (draft.baseBranch.trim() !== "") request.base_branch = draft.baseBranch.trim();
  const agent = agentOf(draft);
  if (agent !== null) request.agent = agent;
  const inputs: Record<string, unknown> = {};
  for (const [name, input] of Object.entries(workflow.inputs)) {
    const text = draft.inputs[name] ?? "";
    const read = readInput(text, input);
    if (text.trim() !== "" && read.ok) inputs[name] = read.value;
  }
  if (Object.keys(inputs).length > 0) request.inputs = inputs;
  return request;
}

function agentOf(draft: Draft): NewOrder["agent"] {
  if (draft.agent === "") return null;
  if (draft.agent === "command") return { name: "command", argv: splitWords(draft.agentCommand) };
  if (draft.agent === "scripted") return { name: "scripted", script: draft.agentScript };
  return draft.agent;
}

/** Words of a command line: blanks separate, quotes and backslashes protect, nothing is expanded. */
export function splitWords(line: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  let quote: string | null = null;
  for (let at = 0; at < line.length; at += 1) {
    const sign = line.charAt(at);
    if (quote !== null) {
      if (sign === quote) quote = null;
      else if (sign === "\\" && quote === '"' && at + 1 < line.length) word += line.charAt(++at);
      else word += sign;
    } else if (sign === "'" || sign === '"') {
      quote = sign;
      word ??= "";
    } else if (sign === "\\" && at + 1 < line.length) {
      word = (word ?? "") + line.charAt(++at);
    } else if (/\s/.test(sign)) {
      if (word !== null) words.push(word);
      word = null;
    } else {
      word = (word ?? "") + sign;
    }
  }
  if (word !== null) words.push(word);
  return words;
}

export function joinWords(words: readonly unknown[]): string {
  return words
    .map(String)
    .map((word) => (/^[\w@%+=:,./{}-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(" ");
}

/** The server's refusal beside its field; null if it names none that the form has. */
export function fieldOf(field: string | null): string | null {
  if (field === null) return null;
  const known = [
    "repository_url",
    "workflow_type",
    "sandbox_type",
    "initial_prompt",
    "github_issue_number",
    "base_branch",
    "title",
    "priority",
    "agent",
  ];
  const plain = field.replace(/^body\./, "");
  if (plain.startsWith("inputs.")) return plain.split(".").slice(0, 2).join(".");
  if (plain === "argv" || plain === "script" || plain.startsWith("agent.")) return "agent";
  return known.includes(plain) ? plain : null;
}
