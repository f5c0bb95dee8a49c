import { rmSync } from "node:fs";
import { output } from "./paths";
import { STARTED } from "./server";

/** The list of processes is this run's; pictures and measures of another part may stay. */
export default function before(): void {
  rmSync(output(STARTED), { force: true });
}
