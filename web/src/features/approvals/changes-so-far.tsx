import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";

import { diffQuery } from "@/api/orders";
import { Card } from "@/ui/card";
import { ButtonLink } from "@/ui/link";
import { Loaded } from "@/ui/loaded";
import { SkeletonText } from "@/ui/skeleton";

const ChangedFiles = lazy(() =>
  import("./changed-files").then((module) => ({ default: module.ChangedFiles })),
);

/** What the order has changed until now: the state of the work that the decision is about. */
export function ChangesSoFar({ orderId }: { orderId: string }) {
  const diff = useQuery(diffQuery(orderId));
  return (
    <Card
      title="Changed so far"
      actions={
        <ButtonLink
          to="/orders/$orderId"
          params={{ orderId }}
          search={{ tab: "changes" }}
          size="sm"
          variant="ghost"
        >
          Open in the diff viewer
        </ButtonLink>
      }
    >
      <Loaded query={diff} lines={4} bare>
        {({ diff: patch, truncated }) =>
          patch === "" ? (
            <p className="text-ink-soft">The work order has not changed any file yet.</p>
          ) : (
            <Suspense fallback={<SkeletonText lines={4} />}>
              <ChangedFiles patch={patch} truncated={truncated} />
            </Suspense>
          )
        }
      </Loaded>
    </Card>
  );
}
