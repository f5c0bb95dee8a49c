import { useEffect, useRef } from "react";

/** A scrollbar that is dragged passes pages that nobody looks at. */
const EVERY_MS = 100;

/** Reports which rows are in sight, at most so often, and always the last of it. */
export function useSeenRange(
  first: number,
  last: number,
  report: (first: number, last: number) => void,
): void {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const latest = useRef({ first, last, report });

  // Outside system: a timer, and whoever loads the rows.
  useEffect(() => {
    latest.current = { first, last, report };
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      const seen = latest.current;
      seen.report(seen.first, seen.last);
    }, EVERY_MS);
  }, [first, last, report]);

  // Outside system: the timer ends with the list.
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
    },
    [],
  );
}
