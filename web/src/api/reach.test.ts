import { act, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { heard, onHeardAgain, unheard, useSilence } from "./reach";

let answer: () => Promise<Response>;
let asked: number;

const settle = (ms = 0) => act(() => vi.advanceTimersByTimeAsync(ms));

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
  asked = 0;
  vi.stubGlobal("fetch", () => {
    asked++;
    return answer();
  });
  heard();
});
afterEach(async () => {
  heard();
  await vi.runOnlyPendingTimersAsync();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const away = () => Promise.reject(new TypeError("Failed to fetch"));
const there = async () => new Response("{}");

it("is silent since it was last heard, once it does not answer when asked either", async () => {
  const { result } = renderHook(useSilence);
  answer = away;
  await settle(5_000);
  act(unheard);
  expect(result.current).toBeNull();
  await settle();
  expect(result.current).toBe(1_000_000);
});

it("is asked again until it answers, and then says so", async () => {
  const { result } = renderHook(useSilence);
  const woken = vi.fn();
  const forget = onHeardAgain(woken);
  answer = async () => new Response("", { status: 502 });
  unheard();
  await settle(6_000);
  expect(asked).toBe(4);
  expect(woken).not.toHaveBeenCalled();
  answer = there;
  await settle(2_000);
  expect(result.current).toBeNull();
  expect(woken).toHaveBeenCalledOnce();
  await settle(60_000);
  expect(asked).toBe(5);
  forget();
});

it("takes one failed request for no outage", async () => {
  const { result } = renderHook(useSilence);
  answer = there;
  unheard();
  await settle();
  expect(result.current).toBeNull();
  expect(asked).toBe(1);
});
