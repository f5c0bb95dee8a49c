import type { Table } from "@tanstack/react-table";
import { Columns3 } from "lucide-react";

import type { OrderSummary } from "@/api/types";
import { Button } from "@/ui/button";
import { Menu, MenuCheck, MenuLabel } from "@/ui/menu";
import { FIXED_COLUMNS } from "./model";

export function ColumnMenu({ table }: { table: Table<OrderSummary> }) {
  return (
    <Menu
      trigger={
        <Button icon={Columns3} className="max-md:hidden">
          Columns
        </Button>
      }
    >
      <MenuLabel>Shown columns</MenuLabel>
      {table
        .getAllLeafColumns()
        .filter((column) => !FIXED_COLUMNS.some((id) => id === column.id))
        .map((column) => (
          <MenuCheck
            key={column.id}
            checked={column.getIsVisible()}
            onCheckedChange={(shown) => column.toggleVisibility(shown)}
          >
            {String(column.columnDef.header)}
          </MenuCheck>
        ))}
    </Menu>
  );
}
