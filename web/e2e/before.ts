import { rmSync } from "node:fs";
import { OUTPUT } from "./paths";

/** Every run begins with an empty output folder, so that nothing in it is older than the run. */
export default function before(): void {
  rmSync(OUTPUT, { recursive: true, force: true });
}
