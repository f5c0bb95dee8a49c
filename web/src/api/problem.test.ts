import { afterEach, describe, expect, it, vi } from "vitest";

import { bodyOf, http } from "./client";
import { Problem, asProblem, isTransient, problemOf } from "./problem";
import { json } from "./test-fixtures";

afterEach(() => vi.unstubAllGlobals());

async function asked(answer: () => Promise<Response>): Promise<Problem> {
  vi.stubGlobal("fetch", answer);
  const error: unknown = await bodyOf(http.GET("/status")).catch((reason: unknown) => reason);
  if (!(error instanceof Problem)) throw new Error(`not a problem: ${String(error)}`);
  return error;
}

describe("a failed request", () => {
  it("tells what a problem document says", async () => {
    const document = {
      code: "workflow_unknown",
      detail: "There is no workflow 'plam'",
      hint: "Did you mean plan?",
      field: "workflow_type",
      errors: [{ line: 3 }, "odd"],
      request_id: "req-1",
    };
    const problem = await asked(async () =>
      json(document, 404, { "Content-Type": "application/problem+json", "Retry-After": "7" }),
    );
    expect(problem).toMatchObject({
      status: 404,
      code: "workflow_unknown",
      message: "There is no workflow 'plam'",
      hint: "Did you mean plan?",
      field: "workflow_type",
      errors: [{ line: 3 }],
      requestId: "req-1",
      retryAfterS: 7,
    });
  });

  it("does not show a proxy's page", async () => {
    const page = () =>
      new Response("<h1>Bad gateway</h1>", {
        status: 502,
        headers: { "Content-Type": "text/html", "X-Request-ID": "req-2" },
      });
    const problem = await asked(async () => page());
    expect(problem).toMatchObject({ status: 502, code: "http_502", requestId: "req-2" });
    expect(problem.detail).not.toContain("<h1>");
  });

  it("is not taken in by broken JSON", async () => {
    const broken = new Response("{", {
      status: 500,
      headers: { "Content-Type": "application/json" },
    });
    expect(await problemOf(broken)).toMatchObject({ status: 500, code: "http_500" });
  });

  it("is offline when nothing answers", async () => {
    const problem = await asked(() => Promise.reject(new TypeError("Failed to fetch")));
    expect(problem).toMatchObject({ status: 0, code: "offline", isOffline: true });
    expect(isTransient(problem)).toBe(true);
  });

  it("is unexpected when success is a page", async () => {
    const page = new Response("<html>", {
      headers: { "Content-Type": "text/html; charset=utf-8" },
    });
    expect(await asked(async () => page)).toMatchObject({ code: "unexpected_answer" });
  });

  it("leaves alone what the page took back itself", async () => {
    vi.stubGlobal("fetch", () => Promise.reject(new DOMException("stopped", "AbortError")));
    await expect(http.GET("/status")).rejects.toMatchObject({ name: "AbortError" });
  });
});

it("makes a problem of anything", () => {
  expect(asProblem(new Error("odd"))).toMatchObject({ code: "unexpected", detail: "odd" });
  expect(isTransient(asProblem("odd"))).toBe(false);
});
