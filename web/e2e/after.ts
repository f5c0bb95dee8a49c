import { existsSync, readFileSync } from "node:fs";
import { output } from "./paths";
import { STARTED } from "./server";

/** No server that a test started may outlive the run. */
export default function after(): void {
  const list = output(STARTED);
  if (!existsSync(list)) return;
  const left = readFileSync(list, "utf8").split("\n").filter(Boolean).filter(isOurs);
  for (const pid of left) process.kill(Number(pid), "SIGKILL");
  if (left.length > 0) throw new Error(`servers are left behind: ${left.join(", ")}`);
}

/** A number may have been given to another process meanwhile. */
function isOurs(pid: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("awo-e2e-");
  } catch {
    return false;
  }
}
