/** Reading reports of tests for people. They are data of agents: nothing in them is obeyed. */

export type Outcome = "failed" | "error" | "skipped" | "passed";

export interface TestCase {
  name: string;
  /** The class, module or file. */
  suite: string;
  outcome: Outcome;
  /** What went wrong in one line. */
  message: string;
  /** Trace and output. */
  details: string;
  durationS: number | null;
}

const MOST_CASES = 20_000;
const DETAIL_CHARS = 64 * 1024;

/** Null for what is no report that we accept: the same rules as the server's. */
export function readJunit(xml: string): TestCase[] | null {
  // Entities could make a small text endless.
  if (/<!DOCTYPE/i.test(xml) || /<!ENTITY/i.test(xml)) return null;
  const parsed = new DOMParser().parseFromString(xml, "application/xml");
  if (parsed.getElementsByTagName("parsererror").length > 0) return null;
  const found = Array.from(parsed.getElementsByTagName("testcase"));
  return found.slice(0, MOST_CASES).map(caseOf);
}

function caseOf(element: Element): TestCase {
  const parts = Array.from(element.children);
  const part = (tag: string) => parts.find((one) => one.tagName === tag);
  const bad = part("failure") ?? part("error");
  const skipped = part("skipped");
  const said = bad ?? skipped;
  const printed = ["system-out", "system-err"].flatMap((tag) => part(tag)?.textContent ?? []);
  const time = Number(element.getAttribute("time") ?? "");
  return {
    name: element.getAttribute("name") ?? "(no name)",
    suite: element.getAttribute("classname") ?? element.getAttribute("file") ?? "",
    outcome: bad ? (bad.tagName === "error" ? "error" : "failed") : skipped ? "skipped" : "passed",
    message: said?.getAttribute("message") ?? "",
    details: [said?.textContent?.trim() ?? "", ...printed]
      .filter((text) => text !== "")
      .join("\n")
      .slice(0, DETAIL_CHARS),
    durationS: element.hasAttribute("time") && Number.isFinite(time) ? time : null,
  };
}

/** `test_results.json`: a list of `{test_name, passed, error}`, or `{tests: […]}`. */
export function readResultsJson(text: string): TestCase[] | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const list = Array.isArray(value) ? value : isRecord(value) ? value["tests"] : null;
  if (!Array.isArray(list)) return null;
  return list.filter(isRecord).slice(0, MOST_CASES).map(resultOf);
}

const WORDS: Record<string, Outcome> = {
  passed: "passed",
  pass: "passed",
  ok: "passed",
  failed: "failed",
  fail: "failed",
  error: "error",
  skipped: "skipped",
  skip: "skipped",
};

function resultOf(one: Record<string, unknown>): TestCase {
  const told = [one["outcome"], one["status"], one["result"]].find((word) => typeof word === "string");
  const byWord = typeof told === "string" ? WORDS[told.toLowerCase()] : undefined;
  const error = textOf(one["error"]) || textOf(one["message"]);
  const duration = one["duration"] ?? one["duration_s"];
  return {
    name: textOf(one["test_name"]) || textOf(one["name"]) || textOf(one["nodeid"]) || "(no name)",
    suite: textOf(one["suite"]) || textOf(one["file"]),
    outcome: byWord ?? (one["passed"] === true ? "passed" : "failed"),
    message: error.split("\n")[0] ?? "",
    details: error.slice(0, DETAIL_CHARS),
    durationS: typeof duration === "number" && Number.isFinite(duration) ? duration : null,
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
