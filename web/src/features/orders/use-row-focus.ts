import { useCallback, useRef, type FocusEvent, type RefObject } from "react";

import { useShortcuts } from "@/lib/shortcuts";

/** A page that is on the way has this long before the focus gives up, in frames. */
const MOST_FRAMES = 120;

export interface RowFocus {
  onFocus: (event: FocusEvent) => void;
  onBlur: (event: FocusEvent) => void;
}

interface RowFocusOptions {
  region: RefObject<HTMLElement | null>;
  count: number;
  /** The first row in sight. */
  first: number;
  scrollTo: (index: number) => void;
  /** The row with the focus: drawn even out of sight, or scrolling would lose it. */
  kept: number | null;
  onKept: (index: number | null) => void;
}

/** `j` and `k` move the focus from row to row; Enter follows its link. */
export function useRowFocus({
  region,
  count,
  first,
  scrollTo,
  kept,
  onKept,
}: RowFocusOptions): RowFocus {
  const target = useRef<number | null>(null);

  const focusRow = useCallback(
    (index: number) => {
      target.current = index;
      scrollTo(index);
      let frames = 0;
      const attempt = () => {
        // Another key was pressed meanwhile, or the page is gone.
        if (target.current !== index || !region.current) return;
        const link = region.current.querySelector<HTMLElement>(
          `[data-index="${index}"] [data-opens]`,
        );
        if (link) link.focus({ preventScroll: true });
        else if (++frames < MOST_FRAMES) requestAnimationFrame(attempt);
      };
      attempt();
    },
    [region, scrollTo],
  );

  const step = (by: 1 | -1) => {
    if (count === 0) return;
    const at = indexOf(document.activeElement, region.current) ?? kept;
    const next = at === null ? first : at + by;
    focusRow(Math.min(Math.max(0, next), count - 1));
  };

  useShortcuts([
    { keys: "j", label: "Next work order (Enter opens it)", run: () => step(1) },
    { keys: "k", label: "Work order before", run: () => step(-1) },
  ]);

  return {
    onFocus: (event) => onKept(indexOf(event.target, region.current)),
    onBlur: (event) => {
      const to = event.relatedTarget;
      if (to instanceof Node && region.current?.contains(to)) return;
      // A click elsewhere ends it; a window that loses the focus does not.
      if (document.hasFocus()) onKept(null);
    },
  };
}

function indexOf(element: Element | null, region: HTMLElement | null): number | null {
  const row = element?.closest<HTMLElement>("[data-index]");
  if (!row || !region?.contains(row)) return null;
  const index = Number(row.dataset["index"]);
  return Number.isInteger(index) ? index : null;
}
