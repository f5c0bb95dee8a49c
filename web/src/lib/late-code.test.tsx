import { act, render, screen } from "@testing-library/react";
import { Suspense, type ComponentType } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { late, lateness, retryLateCode } from "./late-code";

const MISSING = new TypeError("Failed to fetch dynamically imported module: /assets/a.js");

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** Code that comes when it is let; `asked` counts how often it was wanted. */
function served() {
  const server = { isUp: false, asked: 0 };
  const load = async (): Promise<ComponentType<object>> => {
    server.asked++;
    if (!server.isUp) throw MISSING;
    return () => <p>here</p>;
  };
  return { server, load };
}

it("waits for code that cannot be had, and shows it when it comes", async () => {
  const { server, load } = served();
  const Part = late(load);
  await act(async () => {
    render(
      <Suspense fallback={<p>on its way</p>}>
        <Part />
      </Suspense>,
    );
  });
  expect(screen.getByText("on its way")).toBeInTheDocument();
  expect(lateness()).toBe("late");
  await act(() => vi.advanceTimersByTimeAsync(1_000));
  expect(server.asked).toBe(2);
  server.isUp = true;
  await act(() => vi.advanceTimersByTimeAsync(2_000));
  expect(screen.getByText("here")).toBeInTheDocument();
  expect(lateness()).toBe("none");
  expect(server.asked).toBe(3);
});

it("asks at once when the server is back", async () => {
  const { server, load } = served();
  const coming = late(load).preload();
  await vi.advanceTimersByTimeAsync(40_000);
  const { asked } = server;
  server.isUp = true;
  retryLateCode();
  await coming;
  expect(server.asked).toBe(asked + 1);
  expect(lateness()).toBe("none");
});

it("says when a server that answers has the code no more, and begins to count anew with each", async () => {
  const { server, load } = served();
  const coming = late(load).preload();
  await vi.advanceTimersByTimeAsync(3_000);
  expect(lateness()).toBe("outdated");
  retryLateCode();
  expect(lateness()).toBe("late");
  server.isUp = true;
  await vi.advanceTimersByTimeAsync(15_000);
  await coming;
});

it("does not ask again for code that is broken", async () => {
  const load = vi.fn(() => Promise.reject(new Error("x is not a function")));
  const Part = late(load);
  await expect(Part.preload()).rejects.toThrow("x is not a function");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(load).toHaveBeenCalledOnce();
  expect(lateness()).toBe("none");
});
