import { ArrowDown } from "lucide-react";
import {
  useEffect,
  useReducer,
  useRef,
  type KeyboardEvent,
  type PointerEvent,
  type RefObject,
  type WheelEvent,
} from "react";

import { plural } from "@/lib/text";
import { Button } from "@/ui/button";
import type { VirtualListHandle } from "@/ui/virtual-list";

import { beginFollow, isUpKey, nextFollow } from "./follow-model";

export interface Following {
  following: boolean;
  unseen: number;
  jump: () => void;
  stop: () => void;
  onFollowChange: (atEnd: boolean) => void;
  /** For the element around the list: tells when the reader, not the page, scrolls up. */
  region: {
    onWheel: (event: WheelEvent) => void;
    onKeyDown: (event: KeyboardEvent) => void;
    onPointerDown: (event: PointerEvent) => void;
    onTouchMove: () => void;
  };
}

export interface FollowOptions {
  list: RefObject<VirtualListHandle | null>;
  count: number;
  /** Changes when the last row grows without a new one. */
  version?: unknown;
  /** Whether to begin at the end. */
  initially: boolean;
}

/** Keeps the end of a growing list in sight until the reader scrolls up. */
export function useFollow({ list, count, version, initially }: FollowOptions): Following {
  const [state, tell] = useReducer(nextFollow, initially, beginFollow);
  const grabbed = useRef(false);
  if (state.count !== count) tell({ type: "grew", count });

  // Outside system: the scroll position.
  useEffect(() => {
    if (state.following && count > 0) list.current?.scrollToIndex(count - 1, "end");
  }, [state.following, count, version, list]);

  const wentUp = () => {
    const element = list.current?.element;
    if (element && element.scrollTop > 0) tell({ type: "went-up" });
  };
  return {
    following: state.following,
    unseen: state.unseen,
    jump: () => {
      tell({ type: "jumped" });
      if (count > 0) list.current?.scrollToIndex(count - 1, "end");
    },
    stop: () => tell({ type: "went-up" }),
    onFollowChange: (atEnd) => {
      if (atEnd) tell({ type: "reached-end" });
      else if (grabbed.current) wentUp();
      grabbed.current = false;
    },
    region: {
      onWheel: (event) => {
        if (event.deltaY < 0) wentUp();
      },
      onKeyDown: (event) => {
        if (event.target === list.current?.element && isUpKey(event)) wentUp();
      },
      // On the region itself it is the scroll bar.
      onPointerDown: (event) => {
        grabbed.current = event.target === list.current?.element;
      },
      onTouchMove: () => {
        grabbed.current = true;
      },
    },
  };
}

/** Over the end of the list while it is not followed. */
export function JumpToLatest({ follow, noun }: { follow: Following; noun: string }) {
  if (follow.following) return null;
  return (
    <div className="pointer-events-none absolute inset-x-0 bottom-11 z-20 flex justify-center">
      <Button
        variant="primary"
        size="sm"
        icon={ArrowDown}
        onClick={follow.jump}
        className="pointer-events-auto shadow-float"
      >
        Jump to latest
        {follow.unseen > 0 && ` (${plural(follow.unseen, `new ${noun}`)})`}
      </Button>
    </div>
  );
}
