import type { ServerStatus } from "@/api/types";
import { plural } from "@/lib/text";

/** Something about the server that a person should know, and what to do about it. */
export interface Finding {
  title: string;
  hint: string;
  severe: boolean;
}

export function findings(status: ServerStatus): Finding[] {
  const found: Finding[] = [];
  if (status.journal === "rows_damaged") {
    found.push({
      title: "Some rows of the database are damaged",
      hint: "Only what needs them stops. Run `awo doctor` on the server: it names them and what to do.",
      severe: true,
    });
  } else if (status.journal !== "ok") {
    found.push({
      title: `The journal cannot be written (${status.journal})`,
      hint: "Free some disk space, or run `awo doctor` on the server. Open orders are kept and go on afterwards.",
      severe: true,
    });
  }
  if (!status.engine.ok) {
    found.push({
      title: `The engine does not run (${status.engine.state})`,
      hint: status.engine.reason || "Run `awo doctor` on the server.",
      severe: true,
    });
  }
  const quarantined = status.engine.quarantined.length;
  if (quarantined > 0) {
    found.push({
      title: `${plural(quarantined, "order")} set aside: ${status.engine.quarantined.slice(0, 5).join(", ")}`,
      hint: "Their journal is damaged. The runbook says how to bring them back or end them.",
      severe: true,
    });
  }
  for (const [name, state] of Object.entries(status.credential_status)) {
    if (state === "missing") {
      found.push({
        title: `No ${name.replaceAll("_", " ")} is configured`,
        hint: "Agents that need one cannot run, unless they are signed in by themselves.",
        severe: false,
      });
    }
  }
  return found;
}
