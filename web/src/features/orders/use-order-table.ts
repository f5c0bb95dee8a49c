import {
  getCoreRowModel,
  useReactTable,
  type Table,
  type VisibilityState,
} from "@tanstack/react-table";
import { useState } from "react";

import type { OrderSummary } from "@/api/types";
import { COLUMN_DEFS } from "./columns";
import { readVisibility, writeVisibility } from "./model";

const KEPT_AS = "awo.orders.columns";
/** Rows come in pages, in any order: the table knows the columns, the list brings the rows. */
const NO_ROWS: OrderSummary[] = [];

/** Columns and which of them are shown; the browser remembers the choice. */
export function useOrderTable(): Table<OrderSummary> {
  const [columnVisibility, setVisibility] = useState<VisibilityState>(() => readVisibility(kept()));
  return useReactTable({
    data: NO_ROWS,
    columns: COLUMN_DEFS,
    getCoreRowModel: getCoreRowModel(),
    state: { columnVisibility },
    onColumnVisibilityChange: (change) => {
      const next = typeof change === "function" ? change(columnVisibility) : change;
      setVisibility(next);
      keep(writeVisibility(next));
    },
  });
}

function kept(): string | null {
  try {
    return localStorage.getItem(KEPT_AS);
  } catch {
    // The browser keeps nothing for this page: columns are as at first.
    return null;
  }
}

function keep(text: string): void {
  try {
    localStorage.setItem(KEPT_AS, text);
  } catch {
    // The choice holds until the page is left.
  }
}
