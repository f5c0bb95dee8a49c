/** Text that wants to be more than text, and an agent that puts it wherever an agent can. */

import { script, scripted, sharedFolder, type Step } from "./sample";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const PWN = "window.__pwned=1";
const ESC = "\u001b";

export const PAYLOADS = {
  script: `<script>${PWN}</script>`,
  image: `<img src=x onerror="${PWN}">`,
  svg: `<svg/onload=${PWN}>`,
  frame: `<iframe srcdoc="<script>parent.${PWN}</script>"></iframe>`,
  link: `[click me](javascript:${PWN})`,
  bareLink: `javascript:${PWN}`,
  template: `{{constructor.constructor('${PWN}')()}} \${${PWN}}`,
  outside: `![x](http://evil.test:1/leak.png) <link rel=stylesheet href=http://evil.test:1/x.css>`,
  rightToLeft: "report\u202Egnp.exe \u2066hidden\u2069 \u200Fmark",
  colours: `${ESC}[31mred${ESC}[0m ${ESC}[38;2;1;2;3;4;5mmany${ESC}[0m`,
  clears: `${ESC}[2J${ESC}[H${ESC}]0;pwned title\u0007${ESC}]8;;javascript:${PWN}\u0007link${ESC}]8;;\u0007`,
  bomb: "a bomb: " + `${ESC}[1;31;4m`.repeat(3_000) + "its end",
  zalgo: "Z" + "\u0335\u0322\u0489".repeat(300) + "algo",
  backspaces: "visible" + "\b".repeat(7) + "covered",
} as const;

/** One line of a megabyte. */
export const LONG_BYTES = 1_000_000;

export const HOSTILE_TITLE = `${PAYLOADS.image} \u202Eeltit`;
export const HOSTILE_FILE = "<img src=x onerror=window.__pwned=1>.txt";
export const HOSTILE_BRANCH = "<script>window.__pwned=1</script>";
export const HOSTILE_WORKFLOW = "hostile-words";

export const HOSTILE_WORKFLOWS: Record<string, string> = {
  [HOSTILE_WORKFLOW]: `name: ${HOSTILE_WORKFLOW}
description: ${JSON.stringify(`${PAYLOADS.script} ${PAYLOADS.image} ${PAYLOADS.link}`)}
inputs:
  word: {type: string, default: ${JSON.stringify(PAYLOADS.image)}, description: ${JSON.stringify(PAYLOADS.script)}}
tasks:
  build:
    uses: agent.command
    phase: implementing
    with: {command: build}
  check:
    needs: [build]
    uses: tests.run
    phase: testing
  publish:
    needs: [check]
    approval: {message: ${JSON.stringify(`Publish? ${PAYLOADS.image} ${PAYLOADS.bareLink} \u202Eno`)}}
    uses: forge.open_pull_request
`,
};

export function hostileAgent() {
  const folder = sharedFolder();
  const said = join(folder, "said.txt");
  writeFileSync(said, Object.values(PAYLOADS).join("\n"));
  const long = `open('long.txt','w').write('A'*${LONG_BYTES}+'\\n'); print('B'*${LONG_BYTES})`;
  const test = [
    "import unittest",
    "class Hostile(unittest.TestCase):",
    `    def test_words(self): self.fail(open(${JSON.stringify(said)}).read())`,
  ].join("\n");
  const steps: Step[] = [
    ...Object.values(PAYLOADS).map((text) => ({ text })),
    { thinking: `${PAYLOADS.script} ${PAYLOADS.image}` },
    { text: "C".repeat(200_000) },
    { run: ["cat", said] },
    { run: ["python3", "-c", long] },
    { write: { path: HOSTILE_FILE, content: Object.values(PAYLOADS).join("\n") + "\n" } },
    { write: { path: "tests/test_hostile.py", content: test } },
  ];
  return scripted(script({ build: steps }));
}
