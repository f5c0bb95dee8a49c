import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { join, relative } from "node:path";
import { OUTPUT, output, OUTPUTS } from "./paths";
import { MADE, STARTED } from "./server";

/** Enough to compare with; one with every picture is about 10 MB. */
const KEPT_RUNS = 5;

/** The lists of processes and folders are of this part; its pictures and measures join those of the
 * run's other parts. */
export default function before(): void {
  for (const list of [MADE, STARTED]) rmSync(output(list), { force: true });
  mkdirSync(OUTPUTS, { recursive: true });
  forgetOldRuns();
  const latest = join(OUTPUTS, "latest");
  rmSync(latest, { force: true });
  symlinkSync(relative(OUTPUTS, OUTPUT), latest);
}

function forgetOldRuns(): void {
  const runs = readdirSync(OUTPUTS).filter((name) => /^\d{8}T\d{6}-\d+$/.test(name));
  for (const name of runs.sort().slice(0, -KEPT_RUNS)) {
    const atWork = existsSync(`/proc/${name.split("-")[1]}`);
    if (!atWork) rmSync(join(OUTPUTS, name), { recursive: true, force: true });
  }
}
