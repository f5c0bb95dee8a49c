import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { SearchX } from "lucide-react";
import { useCallback } from "react";

import { orderQuery, tasksQuery } from "@/api/orders";
import { Problem } from "@/api/problem";
import type { Order } from "@/api/types";
import { useLastError } from "@/lib/use-last-error";
import { EmptyState } from "@/ui/empty-state";
import { ErrorState } from "@/ui/error-state";
import { ButtonLink } from "@/ui/link";
import { PageHeader } from "@/ui/page-header";
import { SafeText } from "@/ui/safe-text";
import { Skeleton } from "@/ui/skeleton";
import { tabOf } from "./model";
import { OrderActionBar } from "./order-actions";
import { OrderHeader } from "./order-header";
import { OrderTabs } from "./order-tabs";
import { Overview } from "./overview";
import { useOrderActions } from "./use-order-actions";

const route = getRouteApi("/orders/$orderId");

/** One work order: where it stands, what it does, and everything that can be done about it. */
export function OrderPage() {
  const { orderId } = route.useParams();
  const order = useQuery(orderQuery(orderId));
  const error = useLastError(order);
  if (order.data) return <Loaded key={orderId} order={order.data} />;
  if (isMissing(error)) return <Missing id={orderId} />;
  if (error === null) return <Loading />;
  return (
    <>
      <PageHeader title="Work order" />
      <ErrorState error={error} retrying={order.isFetching} onRetry={() => void order.refetch()} />
    </>
  );
}

/** Nothing has such an id, and nothing can have one that the server refuses to look for. */
function isMissing(error: unknown): boolean {
  if (!(error instanceof Problem)) return false;
  return error.status === 404 || error.status === 422 || error.code === "order_prefix_invalid";
}

function Loaded({ order }: { order: Order }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const tasks = useQuery(tasksQuery(order.agent_work_order_id)).data ?? [];
  const actions = useOrderActions(order, tasks);
  const select = useCallback(
    (task: string | null) =>
      void navigate({
        search: (known) => ({ ...known, task: task ?? undefined }),
        replace: true,
        resetScroll: false,
      }),
    [navigate],
  );
  return (
    <>
      <OrderHeader order={order} actions={<OrderActionBar actions={actions} tasks={tasks} />} />
      <OrderTabs
        order={order}
        tab={tabOf(search.tab)}
        view={search}
        onView={(change) =>
          void navigate({
            search: (known) => ({ ...known, ...change }),
            replace: true,
            resetScroll: false,
          })
        }
        onTab={(tab) =>
          void navigate({
            search: (known) => ({ ...known, tab: tab === "overview" ? undefined : tab }),
            resetScroll: false,
          })
        }
        overview={
          <Overview
            order={order}
            tasks={tasks}
            actions={actions}
            selected={search.task ?? null}
            onSelect={select}
          />
        }
      />
    </>
  );
}

function Loading() {
  return (
    <div aria-busy="true" aria-label="Loading the order" role="status">
      <h1 className="sr-only">Work order</h1>
      <Skeleton className="mb-2 h-7 w-96 max-w-full" />
      <Skeleton className="mb-6 h-5 w-2/3" />
      <Skeleton className="mb-4 h-9 w-full" />
      <Skeleton className="mb-4 h-14 w-full" />
      <Skeleton className="h-72 w-full" />
    </div>
  );
}

function Missing({ id }: { id: string }) {
  return (
    <>
      <PageHeader title="There is no such order" />
      <EmptyState
        icon={SearchX}
        title={
          <>
            Nothing is known of <SafeText className="font-mono" text={id} max={60} />
          </>
        }
        action={
          <ButtonLink to="/orders" variant="primary">
            See all work orders
          </ButtonLink>
        }
      >
        The link may be wrong, or you may not see this repository's orders.
      </EmptyState>
    </>
  );
}
