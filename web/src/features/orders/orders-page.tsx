import { getRouteApi } from "@tanstack/react-router";
import { ListChecks, Plus, SearchX } from "lucide-react";

import { useOrderWindow } from "@/api/orders";
import { useMay } from "@/api/roles";
import { Button } from "@/ui/button";
import { Card } from "@/ui/card";
import { EmptyState } from "@/ui/empty-state";
import { ErrorState } from "@/ui/error-state";
import { ButtonLink } from "@/ui/link";
import { PageHeader } from "@/ui/page-header";
import { ColumnMenu } from "./column-menu";
import { Filters } from "./filters";
import {
  cleared,
  countText,
  filterOf,
  isFiltered,
  sortingOf,
  withSorting,
  type OrdersSearch,
} from "./model";
import { OrdersList } from "./orders-list";
import { useOrderTable } from "./use-order-table";

const route = getRouteApi("/orders");

/** Every order there is, newest first unless the address says otherwise. */
export function OrdersPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const filter = filterOf(search);
  const orders = useOrderWindow(filter);
  const table = useOrderTable();
  const filtered = isFiltered(search);
  const { allowed: mayOperate } = useMay("operate");
  const show = (next: OrdersSearch) =>
    void navigate({ search: next, replace: true, resetScroll: false });
  const isEmpty = !orders.isPending && orders.total === 0 && orders.error === null;
  return (
    <>
      <PageHeader
        title="Work orders"
        description={
          <span role="status">
            {orders.isPending || orders.error ? " " : countText(orders.total, filtered)}
          </span>
        }
        actions={
          <>
            <ColumnMenu table={table} />
            {mayOperate && (
              <ButtonLink to="/new" variant="primary" className="max-md:hidden">
                <Plus aria-hidden className="size-4" />
                New work order
              </ButtonLink>
            )}
          </>
        }
      />
      <Filters search={search} onChange={show} />
      {orders.error && (
        <ErrorState error={orders.error} onRetry={orders.refetch} className="mb-3" />
      )}
      {isEmpty && (filtered ? <NoMatches onClear={() => show(cleared(search))} /> : <NoOrders />)}
      {!isEmpty && !(orders.error && orders.total === 0) && (
        // Another question begins at its top; another sorting keeps the focus in the header.
        <OrdersList
          key={JSON.stringify({ ...filter, sort: null, order: null })}
          orders={orders}
          table={table}
          sorting={sortingOf(search)}
          onSort={(sorting) => show(withSorting(search, sorting))}
        />
      )}
    </>
  );
}

function NoMatches({ onClear }: { onClear: () => void }) {
  return (
    <Card>
      <EmptyState
        icon={SearchX}
        title="No work order matches"
        action={<Button onClick={onClear}>Clear filters</Button>}
      >
        Try fewer words, or another status.
      </EmptyState>
    </Card>
  );
}

function NoOrders() {
  const { allowed: mayOperate } = useMay("operate");
  return (
    <Card>
      <EmptyState
        icon={ListChecks}
        title="No work orders yet"
        action={
          mayOperate && (
            <ButtonLink to="/new" variant="primary">
              Create a work order
            </ButtonLink>
          )
        }
      >
        {mayOperate
          ? "Give an agent a task in one of your repositories, and follow it here."
          : "When somebody gives an agent a task, you can follow it here."}
      </EmptyState>
    </Card>
  );
}
