/** Staying at the end of something that grows, until the reader wants to read. */

export interface Follow {
  /** New rows bring the end into sight. */
  following: boolean;
  /** Rows that came since the reader went up. */
  unseen: number;
  count: number;
}

export type FollowEvent =
  | { type: "grew"; count: number }
  /** The reader scrolled up with wheel, keys, finger or bar. */
  | { type: "went-up" }
  | { type: "reached-end" }
  /** "Jump to latest". */
  | { type: "jumped" };

export function beginFollow(following: boolean): Follow {
  return { following, unseen: 0, count: 0 };
}

export function nextFollow(state: Follow, event: FollowEvent): Follow {
  switch (event.type) {
    case "grew": {
      if (event.count === state.count) return state;
      // What was there from the beginning is not new.
      const came = state.count === 0 ? 0 : Math.max(0, event.count - state.count);
      // A list that became shorter is another one: what was not seen of it is unknown.
      const unseen = event.count < state.count ? 0 : state.unseen + came;
      return { ...state, count: event.count, unseen: state.following ? 0 : unseen };
    }
    case "went-up":
      return state.following ? { ...state, following: false, unseen: 0 } : state;
    case "reached-end":
    case "jumped":
      return state.following && state.unseen === 0
        ? state
        : { ...state, following: true, unseen: 0 };
  }
}

const UP_KEYS: ReadonlySet<string> = new Set(["ArrowUp", "PageUp", "Home"]);

/** Whether a key moves a scrolling region up. */
export function isUpKey(event: { key: string; shiftKey: boolean }): boolean {
  return UP_KEYS.has(event.key) || (event.key === " " && event.shiftKey);
}
