import type { Table } from "@tanstack/react-table";
import { defaultRangeExtractor, useVirtualizer, type Range } from "@tanstack/react-virtual";
import { useNavigate } from "@tanstack/react-router";
import { useCallback, useEffect, useRef, useState } from "react";

import type { Window } from "@/api/orders";
import type { OrderSummary } from "@/api/types";
import { useMedia } from "@/lib/use-media";
import { WIDTHS } from "./columns";
import type { ColumnId, Sorting } from "./model";
import { CARD_HEIGHT, OrderCard } from "./order-card";
import { openedBy } from "./order-link";
import { LoadingRow, OrderRow, ROW_HEIGHT } from "./order-row";
import { HEADER_HEIGHT, OrdersHeader } from "./orders-header";
import { useRowFocus } from "./use-row-focus";
import { useSeenRange } from "./use-seen-range";

/** While the count is on its way. */
const ROWS_AT_FIRST = 12;
const OVERSCAN = 6;

interface OrdersListProps {
  orders: Window<OrderSummary>;
  table: Table<OrderSummary>;
  sorting: Sorting;
  onSort: (sorting: Sorting) => void;
}

/** A table, or cards on a phone, of which only the rows in sight exist. */
export function OrdersList({ orders, table, sorting, onSort }: OrdersListProps) {
  const navigate = useNavigate();
  const region = useRef<HTMLDivElement>(null);
  const isPhone = useMedia("(max-width: 47.99rem)");
  const count = orders.isPending ? ROWS_AT_FIRST : orders.total;
  const [kept, onKept] = useState<number | null>(null);
  const size = isPhone ? CARD_HEIGHT : ROW_HEIGHT;
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => region.current,
    estimateSize: () => size,
    overscan: OVERSCAN,
    scrollPaddingEnd: isPhone ? 0 : HEADER_HEIGHT,
    // A row whose page was let go has no focus to keep.
    rangeExtractor: (range) => withKept(range, kept !== null && orders.rowAt(kept) ? kept : null),
  });
  // Outside system: the virtualizer, which keeps heights until it is told that they are others.
  useEffect(() => virtualizer.measure(), [virtualizer, size]);
  const first = virtualizer.range?.startIndex ?? 0;
  const last = virtualizer.range?.endIndex ?? 0;
  // What is drawn out of sight is loaded too, or it would stay a skeleton.
  const lastDrawn = Math.max(0, Math.min(last + OVERSCAN, count - 1));
  useSeenRange(Math.max(0, first - OVERSCAN), lastDrawn, orders.onRange);
  const scrollTo = useCallback((index: number) => virtualizer.scrollToIndex(index), [virtualizer]);
  const { onFocus, onBlur } = useRowFocus({ region, count, first, scrollTo, kept, onKept });

  const rows = virtualizer.getVirtualItems();
  const height = virtualizer.getTotalSize();
  const columns = table.getVisibleLeafColumns();
  const template = columns.map((column) => WIDTHS[column.id as ColumnId]).join(" ");
  return (
    <div
      ref={region}
      role="region"
      aria-label="List of work orders"
      aria-busy={orders.isPending || undefined}
      tabIndex={0}
      onFocus={onFocus}
      onBlur={onBlur}
      onClick={(event) => {
        const orderId = openedBy(event);
        if (orderId === null) return;
        event.preventDefault();
        void navigate({ to: "/orders/$orderId", params: { orderId } });
      }}
      data-testid="orders-list"
      className="relative max-h-[max(24rem,calc(100dvh-14rem))] overflow-auto rounded-lg border border-line bg-surface -outline-offset-2 [overflow-anchor:none]"
    >
      {isPhone ? (
        <div role="list" aria-label="Work orders" className="relative" style={{ height }}>
          {rows.map(({ key, index, start }) => (
            <OrderCard
              key={key}
              order={orders.rowAt(index)}
              index={index}
              start={start}
              count={count}
            />
          ))}
        </div>
      ) : (
        <div
          role="table"
          aria-label="Work orders"
          aria-rowcount={orders.isPending ? -1 : count + 1}
          aria-colcount={columns.length}
          className="min-w-fit"
        >
          <OrdersHeader
            table={table}
            template={template}
            sorting={sorting}
            onSort={(next) => {
              if (region.current) region.current.scrollTop = 0;
              onSort(next);
            }}
          />
          <div role="rowgroup" className="relative" style={{ height }}>
            {rows.map(({ key, index, start }) => {
              const order = orders.rowAt(index);
              const place = { index, start, template, columns };
              return order ? (
                <OrderRow key={key} order={order} table={table} {...place} />
              ) : (
                <LoadingRow key={key} {...place} />
              );
            })}
          </div>
        </div>
      )}
    </div>
  );
}

function withKept(range: Range, kept: number | null): number[] {
  const shown = defaultRangeExtractor(range);
  if (kept === null || kept >= range.count || shown.includes(kept)) return shown;
  return [...shown, kept].sort((a, b) => a - b);
}
