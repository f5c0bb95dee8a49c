import type { Table } from "@tanstack/react-table";
import { ArrowDown, ArrowUp } from "lucide-react";

import type { OrderSummary } from "@/api/types";
import { cx } from "@/ui/cx";
import { RIGHT } from "./columns";
import { pressed, SORTED_BY, type Sorting } from "./model";
import { GRID } from "./order-row";

export const HEADER_HEIGHT = 36;

interface OrdersHeaderProps {
  table: Table<OrderSummary>;
  /** `grid-template-columns`. */
  template: string;
  sorting: Sorting;
  onSort: (sorting: Sorting) => void;
}

/** Names of the columns; those that the server sorts by are buttons. */
export function OrdersHeader({ table, template, sorting, onSort }: OrdersHeaderProps) {
  return (
    <div role="rowgroup" className="sticky top-0 z-10 border-b border-line bg-sunken">
      {table.getHeaderGroups().map((group) => (
        <div
          key={group.id}
          role="row"
          aria-rowindex={1}
          className={cx(GRID, "text-xs font-medium text-ink-soft")}
          style={{ height: HEADER_HEIGHT - 1, gridTemplateColumns: template }}
        >
          {group.headers.map(({ id, column }) => {
            const by = SORTED_BY[column.id];
            const name = String(column.columnDef.header);
            return (
              <div
                key={id}
                role="columnheader"
                aria-sort={by === undefined ? undefined : ariaSort(sorting, by)}
                className={cx("truncate", RIGHT.includes(column.id) && "pr-3 text-right")}
              >
                {by === undefined ? (
                  name
                ) : (
                  <SortButton name={name} by={by} sorting={sorting} onSort={onSort} />
                )}
              </div>
            );
          })}
        </div>
      ))}
    </div>
  );
}

function ariaSort({ by, direction }: Sorting, column: Sorting["by"]) {
  if (by !== column) return "none";
  return direction === "asc" ? "ascending" : "descending";
}

interface SortButtonProps extends Pick<OrdersHeaderProps, "sorting" | "onSort"> {
  name: string;
  by: Sorting["by"];
}

function SortButton({ name, by, sorting, onSort }: SortButtonProps) {
  const Arrow = sorting.direction === "asc" ? ArrowUp : ArrowDown;
  return (
    <button
      type="button"
      className="-ml-1.5 inline-flex h-7 max-w-full cursor-pointer items-center gap-1 rounded px-1.5 -outline-offset-2 hover:bg-hover hover:text-ink"
      onClick={() => onSort(pressed(sorting, by))}
    >
      <span className="truncate">{name}</span>
      {sorting.by === by && <Arrow aria-hidden className="size-3.5 shrink-0 text-accent" />}
    </button>
  );
}
