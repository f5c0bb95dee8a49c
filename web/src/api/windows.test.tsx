import { QueryClientProvider, type QueryClient } from "@tanstack/react-query";
import { act, renderHook, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { patchCache } from "./live/cache";
import { useLogWindow, useOrderWindow } from "./orders";
import { MOST_PAGES, lastPage, pagesOf, remember } from "./page-window";
import { aLine, aLog, aPage, anOrder, json, refusal, testClient } from "./test-fixtures";

let client: QueryClient;
let asked: URLSearchParams[];
let lines: number;
const wrapper = ({ children }: { children: ReactNode }) => (
  <QueryClientProvider client={client}>{children}</QueryClientProvider>
);

beforeEach(() => {
  client = testClient();
  asked = [];
  lines = 1_000;
  vi.stubGlobal("fetch", async (request: Request) => {
    const { pathname, searchParams } = new URL(request.url);
    asked.push(searchParams);
    const offset = Number(searchParams.get("offset"));
    const limit = Number(searchParams.get("limit"));
    if (searchParams.get("q") === "bad") return refusal(422, "request_invalid");
    if (pathname.endsWith("/logs")) {
      return json(aLog(offset + 1, Math.min(lines, offset + limit), lines));
    }
    const orders = Array.from({ length: limit }, (_, i) => anOrder(offset + i));
    return json(aPage(orders, 10_000));
  });
});
afterEach(() => vi.unstubAllGlobals());

it("loads the rows that are looked at and no others", async () => {
  const { result } = renderHook(() => useOrderWindow({ status: ["failed", "running"] }), {
    wrapper,
  });
  expect(result.current.isPending).toBe(true);
  await waitFor(() => expect(result.current.total).toBe(10_000));
  expect(asked[0]?.getAll("status")).toEqual(["failed", "running"]);
  expect(result.current.rowAt(5_050)).toBeUndefined();
  act(() => result.current.onRange(5_040, 5_060));
  await waitFor(() => expect(result.current.rowAt(5_050)?.agent_work_order_id).toBe("wo-5050"));
  expect(result.current.rowAt(7)?.agent_work_order_id).toBe("wo-7");
  expect(asked.map((query) => query.get("offset"))).toEqual(["0", "5000"]);
});

it("begins at the top with another filter", async () => {
  const { result, rerender } = renderHook(({ q }) => useOrderWindow({ q }), {
    wrapper,
    initialProps: { q: "a" },
  });
  await waitFor(() => expect(result.current.total).toBe(10_000));
  act(() => result.current.onRange(900, 950));
  rerender({ q: "bad" });
  await waitFor(() => expect(result.current.error).toMatchObject({ code: "request_invalid" }));
  expect(asked.filter((query) => query.get("q") === "bad")).toHaveLength(1);
});

it("has the end of a log at hand, and grows with it", async () => {
  const { result } = renderHook(() => useLogWindow("wo-1", {}), { wrapper });
  await waitFor(() => expect(result.current.rowAt(999)?.n).toBe(1_000));
  lines = 1_001;
  act(() => {
    patchCache(client, { kind: "log", id: 1, orderId: "wo-1", line: aLine(1_001) });
  });
  await waitFor(() => expect(result.current.rowAt(1_000)?.n).toBe(1_001));
  expect(result.current.total).toBe(1_001);
  expect(result.current.rowAt(0)?.n).toBe(1);
});

it("knows the pages of a range and forgets the oldest", () => {
  expect(pagesOf(90, 210, 100)).toEqual([0, 1, 2]);
  expect(pagesOf(-5, -1, 100)).toEqual([0]);
  expect(pagesOf(0, 1e9, 100)).toHaveLength(MOST_PAGES);
  const seen = [3, 4];
  expect(remember(seen, [3])).toBe(seen);
  expect(remember(seen, [9])).toEqual([9, 3, 4]);
  const many = Array.from({ length: MOST_PAGES }, (_, i) => i);
  expect(remember(many, [50])).toEqual([50, ...many.slice(0, -1)]);
  expect([0, 1, 200, 201].map((total) => lastPage(total, 200))).toEqual([0, 0, 0, 1]);
});
