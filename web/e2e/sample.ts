/** What the orders of the tests work with: a repository, scripts of agents, workflows. */

import { execFileSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { python } from "./paths";
import { temporaryFolder, type OrderRequest } from "./server";

/** The repository of `awo demo`: a basket whose second test fails. */
export function sampleRepository(folder: string): string {
  python([
    "-c",
    "import sys, pathlib; from agent_work_orders.cli.demo import sample; " +
      "sample.make(pathlib.Path(sys.argv[1]))",
    folder,
  ]);
  return join(folder, "sample");
}

export function git(repository: string, ...args: string[]): string {
  return execFileSync("git", ["-C", repository, ...args], {
    encoding: "utf8",
    env: {
      PATH: process.env["PATH"],
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_AUTHOR_NAME: "E2E",
      GIT_AUTHOR_EMAIL: "e2e@example.invalid",
      GIT_COMMITTER_NAME: "E2E",
      GIT_COMMITTER_EMAIL: "e2e@example.invalid",
    },
  });
}

/** A folder that agents may write to, whoever they run as. */
export function sharedFolder(): string {
  const folder = temporaryFolder("shared");
  chmodSync(folder, 0o777);
  return folder;
}

const OLD = "sum(price for _, price, _ in self.items)";
const NEW = "sum(price * quantity for _, price, quantity in self.items)";

export type Step = Record<string, unknown>;

const PLAN: Step[] = [
  { thinking: "The total adds prices and forgets how many there are." },
  { write: { path: "specs/plan.md", content: "# Plan\n\n1. Multiply by the quantity.\n" } },
  { text: "The plan is in specs/plan.md." },
  { usage: { cost_usd: 0.0123, input_tokens: 1200, output_tokens: 340 } },
];
const BUILD: Step[] = [
  { thinking: "The price is for one, so count them all." },
  { replace: { path: "basket.py", old: OLD, new: NEW } },
  { text: "Each price is multiplied by its quantity." },
  { usage: { cost_usd: 0.0456, input_tokens: 5200, output_tokens: 940 } },
];

export function script(commands: Record<string, Step[] | { calls: Step[][] }>): string {
  // JSON is YAML too.
  return JSON.stringify({ version: 1, default: [{ text: "Nothing to do." }], commands }, null, 2);
}

const wait = (seconds: number): Step => ({ delay: seconds });

export const SCRIPTS = {
  success: script({ plan: PLAN, build: BUILD }),
  /** At work until somebody stops it. */
  endless: script({ plan: PLAN, build: [{ text: "Still at it." }, wait(1_800), ...BUILD] }),
  /** Wrong at first: the tests say so, and the loop goes around. */
  mending: script({
    plan: PLAN,
    build: {
      calls: [
        [
          { thinking: "The first one is in the price already, so count the others." },
          { replace: { path: "basket.py", old: OLD, new: NEW.replace("quantity for", "1 for") } },
          { text: "Quantities are part of the total now." },
        ],
        [
          { thinking: "The tests still fail. The price is for one, so count them all." },
          { replace: { path: "basket.py", old: NEW.replace("quantity for", "1 for"), new: NEW } },
          { text: "Each price is multiplied by its quantity." },
          { usage: { cost_usd: 0.0456, input_tokens: 5200, output_tokens: 940 } },
        ],
      ],
    },
  }),
} as const;

/** Fails at its first try and works at the next: `folder` remembers that it was there. */
export function failsOnce(folder: string): string {
  const forget = `mkdir '${folder}/tried' || exit 0; echo 'the registry did not answer'; exit 3`;
  return script({ plan: PLAN, build: [{ run: ["sh", "-c", forget] }, ...BUILD] });
}

/** An agent whose every turn waits until the test lets it go on: no test depends on the time. */
export class Gate {
  private readonly folder = sharedFolder();

  get script(): string {
    return script({
      plan: [{ text: "Reading." }, this.wait("plan"), ...PLAN],
      build: [{ text: "Writing." }, this.wait("build"), ...BUILD],
    });
  }

  open(turn: "plan" | "build"): void {
    writeFileSync(join(this.folder, turn), "");
  }

  private wait(turn: string): Step {
    return { run: ["sh", "-c", `until [ -e '${this.folder}/${turn}' ]; do sleep 0.05; done`] };
  }
}

export const scripted = (text: string) => ({ name: "scripted", script: text });

export const RELEASE = "release-with-approval";

/** An order that says one thing, for an agent that follows the script. */
export function anOrder(
  repository: string,
  title: string,
  script: string,
  workflow = RELEASE,
): OrderRequest {
  return {
    repository_url: repository,
    workflow_type: workflow,
    title,
    initial_prompt: title,
    agent: scripted(script),
  };
}

export const BESIDE = "asked-beside-work";
export const GREETING = "greet-people";

export const WORKFLOWS: Record<string, string> = {
  [RELEASE]: `name: ${RELEASE}
description: An agent plans and builds, a person looks, then it is published
tasks:
  plan:
    uses: agent.command
    phase: planning
    with: {command: plan}
  build:
    needs: [plan]
    uses: agent.command
    phase: implementing
    with: {command: build}
  check:
    needs: [build]
    uses: tests.run
    phase: testing
  publish:
    needs: [check]
    approval: {message: "Publish the branch?", expires: 24h}
    uses: forge.open_pull_request
outputs:
  pull_request: "{{ tasks.publish.outputs.url | default('') }}"
`,
  [BESIDE]: `name: ${BESIDE}
description: A person is asked while another agent still works
tasks:
  plan:
    uses: agent.command
    phase: planning
    with: {command: plan}
  publish:
    needs: [plan]
    approval: {message: "Publish the branch?", expires: 24h}
    uses: forge.open_pull_request
  build:
    needs: [plan]
    uses: agent.command
    phase: implementing
    with: {command: build}
`,
  [GREETING]: `name: ${GREETING}
description: Every kind of input, for the form that is made from them
inputs:
  greeting: {type: string, description: What to say, default: Hello}
  tone: {type: string, enum: [calm, loud], default: calm, description: How to say it}
  times: {type: integer, default: 2, description: How often}
  politely: {type: boolean, default: true, description: Whether to say please}
  people: {type: list, items: string, default: [Ann, Bob], description: To whom}
tasks:
  greet:
    foreach: "{{ inputs.people }}"
    uses: sandbox.exec
    with: {argv: [echo, "{{ inputs.greeting }}, {{ item }}"]}
`,
};
