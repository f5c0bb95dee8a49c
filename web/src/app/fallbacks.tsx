import { useRouter, type ErrorComponentProps } from "@tanstack/react-router";
import { Compass } from "lucide-react";

import { EmptyState } from "@/ui/empty-state";
import { ErrorState } from "@/ui/error-state";
import { ButtonLink } from "@/ui/link";
import { PageHeader } from "@/ui/page-header";
import { Skeleton, SkeletonText } from "@/ui/skeleton";

/** While a page's code is on its way. */
export function PagePending() {
  return (
    <div aria-busy="true" aria-label="Loading the page">
      <Skeleton className="mb-6 h-7 w-56" />
      <SkeletonText lines={6} />
    </div>
  );
}

export function NotFoundPage() {
  return (
    <>
      <PageHeader title="There is no such page" />
      <EmptyState
        icon={Compass}
        title="Nothing lives at this address"
        action={
          <ButtonLink to="/" variant="primary">
            Go to the inbox
          </ButtonLink>
        }
      >
        The link may be old, or a letter is missing.
      </EmptyState>
    </>
  );
}

/** A page that broke. The rest of the app goes on. */
export function RouteError({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  return (
    <>
      <PageHeader title="This page stopped working" />
      <ErrorState
        error={error}
        onRetry={() => {
          reset();
          void router.invalidate();
        }}
      />
    </>
  );
}
