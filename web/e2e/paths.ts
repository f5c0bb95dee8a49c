/** Where things are, and what must run to make them. */

import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const HERE = fileURLToPath(new URL(".", import.meta.url));
export const ROOT = resolve(HERE, "../..");
export const BIN = join(ROOT, ".venv", "bin");
export const OUTPUTS = join(HERE, "output");
/** Of this run alone: two at once neither mix what they write nor end each other's servers. The
 * workers, and the further parts of `scripts/e2e`, find it in the environment. */
export const OUTPUT = (process.env["E2E_OUTPUT"] ??= join(OUTPUTS, runName()));
export const SCREENSHOTS = join(OUTPUT, "screenshots");

/** Sorts by time; who looks can tell whether the run is still at work. */
function runName(): string {
  const began = new Date().toISOString().replace(/[-:]|\..*/g, "");
  return `${began}-${process.pid}`;
}

export function output(name: string): string {
  mkdirSync(OUTPUT, { recursive: true });
  return join(OUTPUT, name);
}

/** What a Python program of ours prints. */
export function python(args: readonly string[]): string {
  return execFileSync(join(BIN, "python"), args, { encoding: "utf8", timeout: 180_000 }).trim();
}
