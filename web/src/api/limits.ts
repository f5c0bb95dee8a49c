/** How long an answer may take. A server that hangs closes no connection, and what a page shows in
 * advance would stay for ever. */

export interface Limit {
  ms: number;
  /** `headers`: once the answer begins it may take as long as it needs. */
  until: "headers" | "end";
}

const USUAL: Limit = { ms: 30_000, until: "end" };
/** The server itself gives git a minute, and other people's servers half of one. */
const GIT: Limit = { ms: 90_000, until: "end" };
const DOWNLOAD: Limit = { ms: 90_000, until: "headers" };

const BY_GIT = /\/(diff|commits|review|git-progress|verify-repository|rollback)$/;
const CREATE = /^POST .*\/agent-work-orders$/;
const CONTENT = /\/artifacts\/[^/]+$/;

export function limitFor({ method, url }: { method: string; url: string }): Limit {
  const { pathname } = new URL(url, window.location.origin);
  if (CONTENT.test(pathname)) return DOWNLOAD;
  return BY_GIT.test(pathname) || CREATE.test(`${method} ${pathname}`) ? GIT : USUAL;
}

/** Calls `send` with a signal that is given also when time is up, with a `TimeoutError` then. */
export async function limited(
  given: AbortSignal,
  limit: Limit,
  send: (signal: AbortSignal) => Promise<Response>,
): Promise<Response> {
  const controller = new AbortController();
  const takeBack = () => controller.abort(given.reason);
  if (given.aborted) takeBack();
  given.addEventListener("abort", takeBack, { once: true });
  // A signal that is given after the end of an answer changes nothing.
  const timer = setTimeout(
    () => controller.abort(new DOMException("The server did not answer in time", "TimeoutError")),
    limit.ms,
  );
  try {
    const response = await send(controller.signal);
    if (limit.until === "headers") clearTimeout(timer);
    return response;
  } catch (error) {
    clearTimeout(timer);
    throw error;
  }
}
