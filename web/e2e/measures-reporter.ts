/** Gathers what the specs measured and photographed into two files, and prints the numbers. */

import type { Reporter, TestCase, TestResult } from "@playwright/test/reporter";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
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
    writeFileSync(output("measures.json"), JSON.stringify(this.measures, null, 2) + "\n");
    if (this.shots.length > 0) this.writeManifest();
    if (this.measures.length === 0) return;
    process.stdout.write("\nMeasured\n");
    for (const one of this.measures) {
      const limit = one.limit === undefined ? "" : `  (limit ${one.limit} ${one.unit})`;
      process.stdout.write(`  ${one.name.padEnd(52)} ${one.value} ${one.unit}${limit}\n`);
    }
  }

  printsToStdio(): boolean {
    return false;
  }

  private writeManifest(): void {
    mkdirSync(SCREENSHOTS, { recursive: true });
    const rows = this.shots
      .map((shot) => ({
        ...shot,
        sha256: createHash("sha256").update(readFileSync(join(SCREENSHOTS, shot.file))).digest("hex"),
      }))
      .sort((one, other) => one.file.localeCompare(other.file));
    writeFileSync(join(SCREENSHOTS, "manifest.json"), JSON.stringify(rows, null, 2) + "\n");
  }
}
