/** Where things are, and what must run to make them. */

import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const HERE = fileURLToPath(new URL(".", import.meta.url));
export const ROOT = resolve(HERE, "../..");
export const BIN = join(ROOT, ".venv", "bin");
export const OUTPUT = join(HERE, "output");
export const SCREENSHOTS = join(OUTPUT, "screenshots");

export function output(name: string): string {
  mkdirSync(OUTPUT, { recursive: true });
  return join(OUTPUT, name);
}

/** What a Python program of ours prints. */
export function python(args: readonly string[]): string {
  return execFileSync(join(BIN, "python"), args, { encoding: "utf8", timeout: 180_000 }).trim();
}
