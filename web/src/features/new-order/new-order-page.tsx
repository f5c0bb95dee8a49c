import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Eye } from "lucide-react";

import { orderQuery } from "@/api/orders";
import { useMay } from "@/api/roles";
import { workflowsQuery } from "@/api/workflows";
import { Card } from "@/ui/card";
import { EmptyState } from "@/ui/empty-state";
import { ErrorState } from "@/ui/error-state";
import { ButtonLink } from "@/ui/link";
import { PageHeader } from "@/ui/page-header";
import { SkeletonText } from "@/ui/skeleton";

import { draftFrom, emptyDraft } from "./model";
import { OrderForm } from "./order-form";

const route = getRouteApi("/new");

/** A repository and a piece of work in; the rest has defaults. */
export function NewOrderPage() {
  const { why } = useMay("operate");
  return (
    <>
      <PageHeader
        title="New work order"
        description="Give a repository and a piece of work. You get back a branch with tested commits."
      />
      {why === null ? <Form /> : <OnlyLooking why={why} />}
    </>
  );
}

function OnlyLooking({ why }: { why: string }) {
  return (
    <Card>
      <EmptyState
        icon={Eye}
        title="You may look, but not create work orders"
        action={<ButtonLink to="/orders">See all work orders</ButtonLink>}
      >
        {why}
      </EmptyState>
    </Card>
  );
}

function Form() {
  const search = route.useSearch();
  const workflows = useQuery(workflowsQuery());
  const from = useQuery({ ...orderQuery(search.from ?? ""), enabled: search.from !== undefined });
  const isWaiting = workflows.isPending || (search.from !== undefined && from.isPending);
  return (
    <>
      {workflows.isError && (
        <ErrorState error={workflows.error} onRetry={() => void workflows.refetch()} />
      )}
      {from.isError && <ErrorState className="mb-4" error={from.error} />}
      {isWaiting && !workflows.isError && (
        <Card aria-busy>
          <SkeletonText lines={8} />
        </Card>
      )}
      {workflows.data && !isWaiting && (
        <OrderForm
          workflows={workflows.data}
          initial={from.data ? { ...draftFrom(from.data), ...given(search) } : emptyDraft(search)}
        />
      )}
    </>
  );
}

function given(search: { repository?: string; workflow?: string; prompt?: string }) {
  return {
    ...(search.repository !== undefined && { repository: search.repository }),
    ...(search.workflow !== undefined && { workflow: search.workflow }),
    ...(search.prompt !== undefined && { prompt: search.prompt }),
  };
}
