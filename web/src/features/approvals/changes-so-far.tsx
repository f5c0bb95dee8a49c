import { useQuery } from "@tanstack/react-query";
import { Suspense } from "react";

import { diffQuery } from "@/api/orders";
import { late } from "@/lib/late-code";
import { Arriving } from "@/ui/arriving";
import { Card } from "@/ui/card";
import { ButtonLink } from "@/ui/link";
import { Loaded } from "@/ui/loaded";
import { SkeletonText } from "@/ui/skeleton";

const ChangedFiles = late(async () => (await import("./changed-files")).ChangedFiles);

/** What the order has changed up to the commit that the decision is about. */
export function ChangesSoFar({ orderId, head }: { orderId: string; head: string | null }) {
  const hasCommit = head !== "";
  const diff = useQuery({ ...diffQuery(orderId, head), enabled: hasCommit });
  return (
    <Card
      title={head ? <>Changed up to {head.slice(0, 12)}</> : "Changed so far"}
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
      {hasCommit ? (
        <Loaded query={diff} lines={4} bare>
          {({ diff: patch, truncated }) =>
            patch === "" ? (
              <NoChange />
            ) : (
              <Suspense
                fallback={
                  <Arriving label="Loading the changes">
                    <SkeletonText lines={4} />
                  </Arriving>
                }
              >
                <ChangedFiles patch={patch} truncated={truncated} />
              </Suspense>
            )
          }
        </Loaded>
      ) : (
        <NoChange />
      )}
    </Card>
  );
}

function NoChange() {
  return <p className="text-ink-soft">The work order had not changed any file.</p>;
}
