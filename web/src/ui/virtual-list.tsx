import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useImperativeHandle, useRef, type ReactNode, type Ref } from "react";

import { cx } from "@/ui/cx";

export interface VirtualListHandle {
  scrollToIndex: (index: number, align?: "auto" | "start" | "center" | "end") => void;
  /** The element that scrolls. */
  element: HTMLDivElement | null;
}

export interface VirtualListProps {
  /** Read out when the region is focused. */
  label: string;
  count: number;
  estimateSize: number | ((index: number) => number);
  renderRow: (index: number) => ReactNode;
  getKey?: (index: number) => string | number;
  overscan?: number;
  /** Rows are as high as the estimate: quicker, for long lists of equal rows. */
  fixed?: boolean;
  /** Stay at the end while rows are added. */
  follow?: boolean;
  /** The reader scrolled away from the end, or back to it. */
  onFollowChange?: (atEnd: boolean) => void;
  /** The last row is near: load more. */
  onEndReached?: () => void;
  /** Which rows are in sight, both included: for lists that load what is looked at. */
  onRangeChange?: (first: number, last: number) => void;
  /** `log` is announced politely by some readers; a table wants `list` and its own header. */
  role?: "list" | "log";
  /** Above the rows, and stays there. */
  header?: ReactNode;
  handle?: Ref<VirtualListHandle>;
  className?: string;
  "data-testid"?: string;
}

/** How near to the end still counts as at the end. */
const NEAR_PX = 24;
const NEAR_ROWS = 10;

/** Draws only the rows in sight. The region scrolls by keyboard once focused. */
export function VirtualList({
  label,
  count,
  estimateSize,
  renderRow,
  getKey,
  overscan = 6,
  fixed = false,
  follow = false,
  onFollowChange,
  onEndReached,
  onRangeChange,
  role = "list",
  header,
  handle,
  className,
  "data-testid": testId = "virtual-list",
}: VirtualListProps) {
  const region = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => region.current,
    estimateSize: typeof estimateSize === "number" ? () => estimateSize : estimateSize,
    getItemKey: getKey,
    overscan,
  });
  useImperativeHandle(handle, () => ({
    scrollToIndex: (index, align = "auto") => virtualizer.scrollToIndex(index, { align }),
    element: region.current,
  }));

  // Outside system: the scroll position. New rows at the end keep the end in sight.
  useEffect(() => {
    if (follow && count > 0) virtualizer.scrollToIndex(count - 1, { align: "end" });
  }, [follow, count, virtualizer]);

  const rows = virtualizer.getVirtualItems();
  const lastSeen = rows.at(-1)?.index ?? -1;

  // Outside system: whoever loads more rows.
  useEffect(() => {
    if (onEndReached && count > 0 && lastSeen >= count - NEAR_ROWS) onEndReached();
  }, [onEndReached, count, lastSeen]);

  const firstInSight = virtualizer.range?.startIndex ?? 0;
  const lastInSight = Math.min(virtualizer.range?.endIndex ?? 0, count - 1);

  // Outside system: whoever loads or names what is looked at.
  useEffect(() => {
    if (onRangeChange && count > 0) onRangeChange(firstInSight, lastInSight);
  }, [onRangeChange, count, firstInSight, lastInSight]);

  const noteScroll = () => {
    const element = region.current;
    if (!element || !onFollowChange) return;
    const left = element.scrollHeight - element.scrollTop - element.clientHeight;
    if (left < NEAR_PX !== atEnd.current) {
      atEnd.current = left < NEAR_PX;
      onFollowChange(atEnd.current);
    }
  };

  return (
    <div
      ref={region}
      data-testid={testId}
      tabIndex={0}
      role="region"
      aria-label={label}
      onScroll={noteScroll}
      className={cx("relative overflow-auto -outline-offset-2 [overflow-anchor:none]", className)}
    >
      {header && <div className="sticky top-0 z-10">{header}</div>}
      <div
        role={role}
        aria-label={label}
        className="relative w-full"
        style={{ height: virtualizer.getTotalSize() }}
      >
        {rows.map((row) => (
          <div
            key={row.key}
            ref={fixed ? undefined : virtualizer.measureElement}
            data-index={row.index}
            role={role === "list" ? "listitem" : undefined}
            aria-setsize={role === "list" ? count : undefined}
            aria-posinset={role === "list" ? row.index + 1 : undefined}
            className="absolute top-0 left-0 w-full"
            style={{
              transform: `translateY(${row.start}px)`,
              ...(fixed ? { height: row.size } : {}),
            }}
          >
            {renderRow(row.index)}
          </div>
        ))}
      </div>
    </div>
  );
}
