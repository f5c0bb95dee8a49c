import { describe, expect, it } from "vitest";

import { after, beginning, waitMs, type Connection, type Happening } from "./state";

const FAILED: Happening = { type: "failed" };
const OPENED: Happening = { type: "opened" };

function run(...steps: [Happening, number][]): Connection {
  return steps.reduce((now, [what, atMs]) => after(now, what, atMs), beginning(0));
}

describe("the connection", () => {
  it("is live once open", () => {
    expect(run([OPENED, 100])).toMatchObject({ state: "live", failures: 0 });
  });

  it("connects again after a failure or two, and polls after three", () => {
    expect(run([OPENED, 0], [FAILED, 50_000]).state).toBe("connecting");
    expect(run([OPENED, 0], [FAILED, 50_000], [FAILED, 51_000]).state).toBe("connecting");
    const third = run([OPENED, 0], [FAILED, 50_000], [FAILED, 51_000], [FAILED, 53_000]);
    expect(third).toMatchObject({ state: "polling", failures: 3 });
  });

  it("polls when nothing answers for long", () => {
    expect(run([{ type: "waited" }, 9_999]).state).toBe("connecting");
    expect(run([{ type: "waited" }, 10_000]).state).toBe("polling");
  });

  it("polls until it is live again", () => {
    const offline = Array.from({ length: 40 }, (_, i): [Happening, number] => [FAILED, i * 15_000]);
    expect(run(...offline).state).toBe("polling");
    expect(run(...offline, [OPENED, 600_000])).toMatchObject({ state: "live", failures: 0 });
  });

  it("does not poll for nobody", () => {
    const out = run([FAILED, 0], [FAILED, 1], [FAILED, 2], [{ type: "signed-out" }, 3]);
    expect(out).toMatchObject({ state: "connecting", signedOut: true });
    expect(after(out, { type: "waited" }, 60_000).state).toBe("connecting");
    expect(after(out, { type: "signed-in" }, 60_000)).toEqual(beginning(60_000));
  });
});

it("waits longer each time, up to fifteen seconds, spread by a quarter", () => {
  expect([1, 2, 3, 4, 5, 50].map((n) => waitMs(n, 0.5))).toEqual([
    1_000, 2_000, 4_000, 8_000, 15_000, 15_000,
  ]);
  expect(waitMs(5, 0)).toBe(11_250);
  expect(waitMs(1, 1)).toBe(1_250);
});
