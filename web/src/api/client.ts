import createClient, { type Middleware } from "openapi-fetch";

import { offlineProblem, problemOf, unexpectedAnswer } from "./problem";
import type { paths } from "./schema";

const problems: Middleware = {
  async onResponse({ response }) {
    if (!response.ok) throw await problemOf(response);
    if ((response.headers.get("Content-Type") ?? "").includes("text/html")) {
      throw unexpectedAnswer(response);
    }
  },
  onError({ error }) {
    // A request that the page itself took back is not a failure.
    if ((error as { name?: unknown } | null)?.name === "AbortError") return undefined;
    return offlineProblem();
  },
};

/** The server's API, typed by its own description. Everything but 2xx throws a Problem. */
export const http = createClient<paths>({
  baseUrl: window.location.origin,
  credentials: "same-origin",
  // Looked up at each call, so that tests can put another in its place.
  fetch: (request) => globalThis.fetch(request),
});
http.use(problems);

/** The body of an answer that is known to be a success. */
export async function bodyOf<T>(answer: Promise<{ data?: T }>): Promise<NonNullable<T>> {
  const { data } = await answer;
  if (data === undefined || data === null) throw offlineProblem();
  return data;
}
