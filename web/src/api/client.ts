import createClient, { type Middleware } from "openapi-fetch";

import { limitFor, limited } from "./limits";
import { PAGE_HEADER, pageSecret } from "./page-secret";
import { offlineProblem, problemOf, timeoutProblem, unexpectedAnswer } from "./problem";
import { heard, isFromBetween, unheard } from "./reach";
import type { paths } from "./schema";

const problems: Middleware = {
  onRequest({ request }) {
    const secret = pageSecret();
    if (secret !== null) request.headers.set(PAGE_HEADER, secret);
  },
  async onResponse({ response }) {
    if (isFromBetween(response.status)) unheard();
    else heard();
    if (!response.ok) throw await problemOf(response);
    if ((response.headers.get("Content-Type") ?? "").includes("text/html")) {
      throw unexpectedAnswer(response);
    }
  },
  onError: ({ error }) => {
    const failure = failureOf(error);
    if (failure !== undefined) unheard();
    return failure;
  },
};

/** The server's API, typed by its own description. Everything but 2xx throws a Problem. */
export const http = createClient<paths>({
  baseUrl: window.location.origin,
  credentials: "same-origin",
  // Looked up at each call, so that tests can put another in its place.
  fetch: (request) =>
    limited(request.signal, limitFor(request), (signal) => globalThis.fetch(request, { signal })),
});
http.use(problems);

/** The body of an answer that is known to be a success. */
export async function bodyOf<T>(answer: Promise<{ data?: T }>): Promise<NonNullable<T>> {
  const { data } = await answer.catch((error: unknown) => {
    // An answer may also break off, or come to a halt, after it has begun.
    throw failureOf(error) ?? error;
  });
  if (data === undefined || data === null) throw offlineProblem();
  return data;
}

/** What a request fails with that got no answer; undefined for what is no failure of that kind. */
function failureOf(error: unknown): Error | undefined {
  const name = (error as { name?: unknown } | null)?.name;
  if (name === "TimeoutError") return timeoutProblem();
  // What the page itself took back is not a failure.
  if (name === "AbortError" || name === "Problem" || name === "SyntaxError") return undefined;
  return offlineProblem();
}
