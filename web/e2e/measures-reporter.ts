/**
 * Gathers what the specs measured and photographed into two files, and prints the numbers. What an
 * earlier run wrote there stays, unless this one has it too: a run may be only a part.
 */

import type { Reporter, TestCase, TestResult } from "@playwright/test/reporter";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Measure, Shot } from "./measures";
import { output, SCREENSHOTS } from "./paths";

export default class MeasuresReporter implements Reporter {
  private readonly measures: Measure[] = [];
  private readonly shots: Shot[] = [];

  onTestEnd(_test: TestCase, result: TestResult): void {
    for (const { type, description } of result.annotations) {
      if (type === "measure") this.measures.push(JSON.parse(description ?? "") as Measure);
      if (type === "screenshot") this.shots.push(JSON.parse(description ?? "") as Shot);
    }
  }

  onEnd(): void {
    const measures = merged<Measure>(output("measures.json"), this.measures, (one) => one.name);
    const manifest = join(SCREENSHOTS, "manifest.json");
    const shots = this.shots.map((shot) => ({ ...shot, sha256: sha256(join(SCREENSHOTS, shot.file)) }));
    if (shots.length > 0) merged<Shot>(manifest, shots, (one) => one.file);
    if (this.measures.length === 0) return;
    process.stdout.write("\nMeasured\n");
    for (const one of measures) {
      const limit = one.limit === undefined ? "" : `  (limit ${one.limit} ${one.unit})`;
      process.stdout.write(`  ${one.name.padEnd(52)} ${one.value} ${one.unit}${limit}\n`);
    }
  }

  printsToStdio(): boolean {
    return false;
  }
}

function sha256(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}

/** The file's rows with these in place of those of the same name; written and returned. */
function merged<Row>(file: string, rows: readonly Row[], nameOf: (row: Row) => string): Row[] {
  const known = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Row[]) : [];
  const byName = new Map([...known, ...rows].map((row) => [nameOf(row), row]));
  const all = [...byName.values()].sort((one, other) => nameOf(one).localeCompare(nameOf(other)));
  writeFileSync(file, JSON.stringify(all, null, 2) + "\n");
  return all;
}
