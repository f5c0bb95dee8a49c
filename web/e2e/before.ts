import { rmSync } from "node:fs";
import { output } from "./paths";
import { MADE, STARTED } from "./server";

/** The lists of processes and folders are this run's; pictures and measures of another part may stay. */
export default function before(): void {
  for (const list of [MADE, STARTED]) rmSync(output(list), { force: true });
}
