import { describe, expect, it } from "vitest";

import { beginFollow, isUpKey, nextFollow, type Follow, type FollowEvent } from "./follow-model";

function after(start: Follow, ...events: FollowEvent[]): Follow {
  return events.reduce(nextFollow, start);
}

describe("following", () => {
  it("stays at the end while rows come", () => {
    const state = after(beginFollow(true), { type: "grew", count: 3 }, { type: "grew", count: 9 });
    expect(state).toEqual({ following: true, unseen: 0, count: 9 });
  });

  it("stops when the reader goes up, and counts what comes then", () => {
    const state = after(
      beginFollow(true),
      { type: "grew", count: 3 },
      { type: "went-up" },
      { type: "grew", count: 5 },
      { type: "grew", count: 6 },
    );
    expect(state).toEqual({ following: false, unseen: 3, count: 6 });
  });

  it("goes on when the reader comes back or jumps", () => {
    const up = after(
      beginFollow(true),
      { type: "grew", count: 2 },
      { type: "went-up" },
      { type: "grew", count: 5 },
    );
    for (const type of ["reached-end", "jumped"] as const) {
      expect(after(up, { type })).toEqual({ following: true, unseen: 0, count: 5 });
    }
  });

  it("calls nothing new that was there from the beginning", () => {
    expect(after(beginFollow(false), { type: "grew", count: 38 }).unseen).toBe(0);
  });

  it("forgets what was not seen of another list", () => {
    const state = after(
      beginFollow(false),
      { type: "grew", count: 50 },
      { type: "grew", count: 4 },
    );
    expect(state.unseen).toBe(0);
  });

  it("keeps the same value when nothing changes", () => {
    const state = after(beginFollow(true), { type: "grew", count: 3 });
    expect(nextFollow(state, { type: "grew", count: 3 })).toBe(state);
    expect(nextFollow(state, { type: "reached-end" })).toBe(state);
  });
});

it("knows the keys that go up", () => {
  expect(isUpKey({ key: "PageUp", shiftKey: false })).toBe(true);
  expect(isUpKey({ key: " ", shiftKey: true })).toBe(true);
  expect(isUpKey({ key: " ", shiftKey: false })).toBe(false);
  expect(isUpKey({ key: "ArrowDown", shiftKey: false })).toBe(false);
});
