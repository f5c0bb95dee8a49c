import { QueryClientProvider } from "@tanstack/react-query";
import { act, renderHook } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { readArtifact } from "./artifact-download";
import { bodyOf, http } from "./client";
import { limitFor } from "./limits";
import { orderKeys, useSteer } from "./orders";
import { forgetPageSecret, keepPageSecret, pageSecret } from "./page-secret";
import { type Problem, isTransient } from "./problem";
import { useSignIn, useSignOut } from "./session";
import { anOrder, detailed, json, refusal, testClient } from "./test-fixtures";
import type { Order } from "./types";

type Sent = Request & { under: AbortSignal | undefined };
let sent: Sent[];
let answer: (signal: AbortSignal) => Promise<Response>;

beforeEach(() => {
  sent = [];
  vi.stubGlobal("fetch", (request: Request, init?: RequestInit) => {
    const under = init?.signal ?? undefined;
    sent.push(Object.assign(request, { under }));
    return answer(under as AbortSignal);
  });
});
afterEach(() => {
  forgetPageSecret();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const proofs = () => sent.map((request) => request.headers.get("X-AWO-Page"));
const failureOf = (work: Promise<unknown>) => work.then(String, (error: unknown) => error);

/** As `fetch` does: for ever, unless it is taken back. */
function hanging(signal: AbortSignal): Promise<Response> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error));
  });
}

describe("the page's secret", () => {
  const session = { name: "ann", role: "viewer", repositories: null, expires_at: null };
  const client = testClient();
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={client}>{children}</QueryClientProvider>
  );

  it("is kept from signing in to signing out, and sent with everything between", async () => {
    answer = async () => json({ session, page_secret: "s3cret" }, 201);
    const { result } = renderHook(() => ({ in: useSignIn(), out: useSignOut() }), { wrapper });
    await act(() => result.current.in.mutateAsync({ key: "k" }));
    expect(JSON.stringify(client.getQueryCache().getAll())).not.toContain("s3cret");
    answer = async () => json({});
    await http.GET("/status");
    await http.POST("/api/session/links");
    answer = async () => json({ signed_out: true });
    await act(() => result.current.out.mutateAsync());
    answer = async () => json({});
    await http.GET("/status");
    expect(proofs()).toEqual([null, "s3cret", "s3cret", "s3cret", null]);
    expect(window.localStorage.length).toBe(0);
  });

  it("goes with what is downloaded, also when that is empty", async () => {
    keepPageSecret("mine");
    answer = async () => new Response("<script>", { headers: { "Content-Type": "text/plain" } });
    const content = await readArtifact("wo-1", "a".repeat(64));
    expect([content.size, content.type]).toEqual([8, "application/octet-stream"]);
    answer = async () => new Response(null, { headers: { "Content-Length": "0" } });
    expect((await readArtifact("wo-1", "b".repeat(64))).size).toBe(0);
    expect(proofs()).toEqual(["mine", "mine"]);
    answer = async () => refusal(401, "page_unproven");
    expect(await failureOf(readArtifact("wo-1", "c".repeat(64)))).toMatchObject({ status: 401 });
  });

  it("is there until the page is left in a browser that stores nothing", () => {
    const refuse = () => {
      throw new DOMException("", "SecurityError");
    };
    const storage = { getItem: refuse, setItem: refuse, removeItem: refuse };
    vi.spyOn(window, "localStorage", "get").mockReturnValue(storage as unknown as Storage);
    keepPageSecret("x");
    expect(pageSecret()).toBe("x");
    forgetPageSecret();
    expect(pageSecret()).toBeNull();
    vi.restoreAllMocks();
  });
});

describe("time that an answer may take", () => {
  beforeEach(() => void vi.useFakeTimers());

  it("ends in a problem of its own, which is not sent again by itself", async () => {
    answer = hanging;
    const failure = failureOf(bodyOf(http.GET("/status")));
    await vi.advanceTimersByTimeAsync(29_000);
    expect(sent[0]?.under?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(2_000);
    const problem = (await failure) as Problem;
    expect(problem).toMatchObject({ code: "timeout", status: 0, isTimeout: true });
    expect(problem.hint).toContain("may still");
    expect(isTransient(problem)).toBe(false);
  });

  it("counts until the end of the answer, not only to its beginning", async () => {
    answer = async (signal) => {
      const body = new ReadableStream({
        start: (controller) =>
          signal.addEventListener("abort", () => controller.error(signal.reason)),
      });
      return new Response(body, { headers: { "Content-Type": "application/json" } });
    };
    const failure = failureOf(bodyOf(http.GET("/status")));
    await vi.advanceTimersByTimeAsync(31_000);
    expect(await failure).toMatchObject({ code: "timeout" });
  });

  it("takes back what is shown in advance", async () => {
    answer = hanging;
    const client = testClient();
    client.setQueryData(orderKeys.detail("wo-1"), detailed(anOrder(1)));
    const status = () => client.getQueryData<Order>(orderKeys.detail("wo-1"))?.status;
    const { result } = renderHook(() => useSteer("wo-1"), {
      wrapper: ({ children }: { children: ReactNode }) => (
        <QueryClientProvider client={client}>{children}</QueryClientProvider>
      ),
    });
    act(() => result.current.pause.mutate());
    await act(() => vi.advanceTimersByTimeAsync(100));
    expect(status()).toBe("paused");
    await act(() => vi.advanceTimersByTimeAsync(30_000));
    expect(status()).toBe("running");
    expect(result.current.pause.error).toMatchObject({ code: "timeout" });
    client.clear();
  });

  it("leaves alone what the page takes back, and what breaks off is no connection", async () => {
    answer = hanging;
    const controller = new AbortController();
    const failure = failureOf(http.GET("/status", { signal: controller.signal }));
    await vi.advanceTimersByTimeAsync(10);
    controller.abort();
    expect(await failure).toMatchObject({ name: "AbortError" });
    answer = async () => {
      const body = new ReadableStream({ start: (made) => made.error(new TypeError("gone")) });
      return new Response(body, { headers: { "Content-Type": "application/json" } });
    };
    expect(await failureOf(bodyOf(http.GET("/status")))).toMatchObject({ code: "offline" });
  });

  it.each([
    ["GET", "/api/agent-work-orders", 30_000, "end"],
    ["POST", "/api/agent-work-orders", 90_000, "end"],
    ["POST", "/api/agent-work-orders/wo-1/cancel", 30_000, "end"],
    ["GET", "/api/agent-work-orders/wo-1/diff?x=1", 90_000, "end"],
    ["GET", "/api/agent-work-orders/wo-1/commits/abc/diff", 90_000, "end"],
    ["POST", "/api/github/verify-repository", 90_000, "end"],
    ["GET", "/api/agent-work-orders/wo-1/artifacts", 30_000, "end"],
    ["GET", "/api/agent-work-orders/wo-1/artifacts/abc", 90_000, "headers"],
  ])("is for %s %s %i ms", (method, url, ms, until) => {
    expect(limitFor({ method, url })).toEqual({ ms, until });
  });
});
