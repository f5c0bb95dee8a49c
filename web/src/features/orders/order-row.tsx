import { createRow, flexRender, type Column, type Table } from "@tanstack/react-table";
import { memo, useMemo, type CSSProperties } from "react";

import type { OrderSummary } from "@/api/types";
import { cx } from "@/ui/cx";
import { Skeleton } from "@/ui/skeleton";
import { RIGHT } from "./columns";

export const ROW_HEIGHT = 48;
export const GRID = "grid items-center gap-x-3 px-4";

interface PlacedProps {
  index: number;
  /** Pixels from the first row's top. */
  start: number;
  /** `grid-template-columns`. */
  template: string;
  columns: readonly Column<OrderSummary>[];
}

const ROW = cx(
  GRID,
  "absolute top-0 left-0 w-full border-b border-line [contain:layout_style_paint]",
);

function placed({ start, template }: PlacedProps): CSSProperties {
  return {
    height: ROW_HEIGHT,
    transform: `translateY(${start}px)`,
    gridTemplateColumns: template,
  };
}

/** The title stands out; the rest is there when one looks for it. */
function lookOf(column: string): string | undefined {
  if (column === "title" || column === "status") return undefined;
  return cx("text-[13px] text-ink-soft", RIGHT.includes(column) && "pr-3 text-right");
}

interface OrderRowProps extends PlacedProps {
  order: OrderSummary;
  table: Table<OrderSummary>;
}

/** Drawn again only when its order, its place or the columns change. */
export const OrderRow = memo(function OrderRow({ order, table, ...place }: OrderRowProps) {
  const { index, columns } = place;
  const row = useMemo(
    () => createRow(table, order.agent_work_order_id, order, index, 0),
    [table, order, index],
  );
  const cells = row.getAllCells();
  return (
    <div
      role="row"
      // The header is the first row.
      aria-rowindex={index + 2}
      data-index={index}
      className={cx(ROW, "hover:bg-hover/60")}
      style={placed(place)}
    >
      {columns.map((column) => {
        const cell = cells.find((one) => one.column.id === column.id);
        return (
          <div key={column.id} role="cell" className={cx("min-w-0 truncate", lookOf(column.id))}>
            {cell && flexRender(column.columnDef.cell, cell.getContext())}
          </div>
        );
      })}
    </div>
  );
});

/** Its page is on the way. */
export const LoadingRow = memo(function LoadingRow(place: PlacedProps) {
  return (
    <div
      role="row"
      aria-rowindex={place.index + 2}
      aria-busy="true"
      data-index={place.index}
      className={ROW}
      style={placed(place)}
    >
      {place.columns.map((column) => (
        <div key={column.id} role="cell" className="min-w-0">
          {/* One shape in each row: many that move would cost more than what they stand for. */}
          {column.id === "title" && (
            <>
              <span className="sr-only">Loading</span>
              <Skeleton className="h-4 w-3/4" />
            </>
          )}
        </div>
      ))}
    </div>
  );
});
