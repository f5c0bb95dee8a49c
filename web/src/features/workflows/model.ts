import type { WorkflowSummary, WorkflowTask, WorkflowVersion } from "@/api/types";

export const ORIGIN_WORDS = {
  builtin: "Built in",
  user: "Yours",
  repository: "From a repository",
} satisfies Record<WorkflowSummary["origin"], string>;

/** The scopes above tasks, which are open from the start: a workflow is read, not watched. */
export function scopesOf(tasks: readonly WorkflowTask[]): Set<string> {
  const scopes = new Set<string>();
  for (const { id } of tasks) {
    for (let at = id.lastIndexOf("."); at > 0; at = id.lastIndexOf(".", at - 1)) {
      scopes.add(id.slice(0, at));
    }
  }
  return scopes;
}

/** The version that the address names, by number or by the beginning of its hash. */
export function versionNamed(
  versions: readonly WorkflowVersion[],
  wanted: string | undefined,
): WorkflowVersion | undefined {
  if (wanted === undefined || wanted === "") return undefined;
  return versions.find(
    (one) => String(one.version) === wanted || (wanted.length >= 6 && one.hash.startsWith(wanted)),
  );
}

export interface SourceChange {
  kind: "context" | "add" | "del";
  text: string;
}

/** Lines beyond this are compared as whole blocks: the table would grow with their product. */
const MOST_LINES = 2_000;

/** The lines of one source beside another's: what was taken away and what was added. */
export function sourceChanges(before: string, after: string): SourceChange[] {
  const a = before.split("\n");
  const b = after.split("\n");
  if (a.length > MOST_LINES || b.length > MOST_LINES) {
    return [...a.map((text) => change("del", text)), ...b.map((text) => change("add", text))];
  }
  // The length of the longest common rest from line i of one and line j of the other.
  const width = b.length + 1;
  const rest = new Uint16Array((a.length + 1) * width);
  const common = (i: number, j: number) => rest[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      rest[i * width + j] =
        a[i] === b[j] ? common(i + 1, j + 1) + 1 : Math.max(common(i + 1, j), common(i, j + 1));
    }
  }
  const found: SourceChange[] = [];
  let i = 0;
  let j = 0;
  for (;;) {
    const [left, right] = [a[i], b[j]];
    if (left !== undefined && left === right) {
      found.push(change("context", left));
      i += 1;
      j += 1;
    } else if (
      left !== undefined &&
      (right === undefined || common(i + 1, j) >= common(i, j + 1))
    ) {
      found.push(change("del", left));
      i += 1;
    } else if (right !== undefined) {
      found.push(change("add", right));
      j += 1;
    } else {
      return found;
    }
  }
}

function change(kind: SourceChange["kind"], text: string): SourceChange {
  return { kind, text };
}
