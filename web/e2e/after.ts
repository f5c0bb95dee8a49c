import { existsSync, readFileSync, rmSync } from "node:fs";
import { output } from "./paths";
import { MADE, STARTED } from "./server";

/** No server that a test started may outlive the run, and no folder. */
export default function after(): void {
  const left = listed(STARTED).flatMap((line) => {
    const [pid = "", home = ""] = line.split("\t");
    return isOurs(pid, home) ? [pid] : [];
  });
  for (const pid of left) process.kill(Number(pid), "SIGKILL");
  for (const folder of listed(MADE)) rmSync(folder, { recursive: true, force: true });
  if (left.length > 0) throw new Error(`servers were left behind: ${left.join(", ")}`);
}

function listed(name: string): string[] {
  const file = output(name);
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
}

/** A number may have been given to another process meanwhile, even to another run's server. */
function isOurs(pid: string, home: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(home);
  } catch {
    return false;
  }
}
