import type { ProblemDocument } from "./types";

/** A server's refusal or failure, or no answer at all: what pages show in an error state. */
export class Problem extends Error {
  override readonly name = "Problem";
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  /** Stable; `offline`, `timeout` and `unexpected_answer` are ours, the others the server's. */
  readonly code: string;
  readonly detail: string;
  readonly hint: string | null;
  readonly field: string | null;
  readonly errors: readonly Record<string, unknown>[];
  readonly requestId: string | null;
  /** Seconds that the server asks to wait. */
  readonly retryAfterS: number | null;

  constructor(
    given: Partial<Omit<ProblemDocument, "status">> & {
      status: number;
      code: string;
      detail: string;
      retryAfterS?: number | null;
    },
  ) {
    super(given.detail);
    this.status = given.status;
    this.code = given.code;
    this.detail = given.detail;
    this.hint = given.hint ?? null;
    this.field = given.field ?? null;
    this.errors = given.errors ?? [];
    this.requestId = given.request_id ?? null;
    this.retryAfterS = given.retryAfterS ?? null;
  }

  get isOffline(): boolean {
    return this.code === OFFLINE;
  }

  /** Nothing came in time. Not sent again by itself: that would take as long once more. */
  get isTimeout(): boolean {
    return this.code === TIMEOUT;
  }

  get isSignedOut(): boolean {
    return this.status === 401;
  }
}

const OFFLINE = "offline";
const TIMEOUT = "timeout";
const STATUS_WORDS: Record<number, string> = {
  401: "You are not signed in",
  403: "This is not allowed",
  404: "There is no such thing",
  413: "This is too large",
  429: "Too many requests",
  502: "A server in between does not answer",
  503: "The server is not ready",
  504: "The server took too long",
};

export function offlineProblem(): Problem {
  return new Problem({
    status: 0,
    code: OFFLINE,
    detail: "The server does not answer",
    hint: "Check that `awo up` is running. This page goes on by itself when it is.",
  });
}

/** No answer within the time that one takes at most. What was asked for may still happen. */
export function timeoutProblem(): Problem {
  return new Problem({
    status: 0,
    code: TIMEOUT,
    detail: "The server did not answer in time",
    hint: "It may still do what was asked. Look again in a moment; `awo doctor` says how it is.",
  });
}

/** Reads whatever came with a status that means failure. Never throws. */
export async function problemOf(response: Response): Promise<Problem> {
  const retryAfterS = seconds(response.headers.get("Retry-After"));
  const requestId = response.headers.get("X-Request-ID");
  const body = await jsonOf(response);
  if (isDocument(body)) {
    return new Problem({
      status: response.status,
      code: body.code,
      detail: body.detail,
      hint: textOrNull(body.hint),
      field: textOrNull(body.field),
      errors: Array.isArray(body.errors) ? body.errors.filter(isObject) : [],
      request_id: textOrNull(body.request_id) ?? requestId,
      retryAfterS,
    });
  }
  return new Problem({
    status: response.status,
    code: `http_${response.status}`,
    detail: STATUS_WORDS[response.status] ?? `The server answered with status ${response.status}`,
    hint: response.status >= 500 ? "Try again in a moment." : null,
    request_id: requestId,
    retryAfterS,
  });
}

/** Success with something that is not the API's: another program, or a proxy's own page. */
export function unexpectedAnswer(response: Response): Problem {
  return new Problem({
    status: response.status,
    code: "unexpected_answer",
    detail: "Something other than the Agent Work Orders server answered",
    hint: "Check the address, and any proxy in between.",
    request_id: response.headers.get("X-Request-ID"),
  });
}

/** Any thrown value as a problem, for error states. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return new Problem({
    status: 0,
    code: "unexpected",
    detail: error instanceof Error ? error.message : "Something went wrong on this page",
  });
}

/** Whether the same request may succeed when sent again. */
export function isTransient(error: unknown): boolean {
  return (
    error instanceof Problem &&
    (error.isOffline || [408, 429, 502, 503, 504].includes(error.status))
  );
}

async function jsonOf(response: Response): Promise<unknown> {
  if (!(response.headers.get("Content-Type") ?? "").includes("json")) return null;
  try {
    return (await response.json()) as unknown;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isDocument(
  value: unknown,
): value is Record<string, unknown> & { code: string; detail: string } {
  return (
    isObject(value) && typeof value["code"] === "string" && typeof value["detail"] === "string"
  );
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function seconds(header: string | null): number | null {
  return header !== null && /^\d+$/.test(header) ? Number(header) : null;
}
