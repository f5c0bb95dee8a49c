import { useQuery } from "@tanstack/react-query";
import { FileDiff } from "lucide-react";

import { diffQuery } from "@/api/orders";
import { EmptyState } from "@/ui/empty-state";
import { ErrorState } from "@/ui/error-state";

import { DiffView } from "./diff-view";
import { Frame, isOpen, PanelSkeleton, TALL, type PanelProps } from "./panel-states";

/** All that the order has changed so far. */
export function DiffPanel({ orderId, order }: PanelProps) {
  const diff = useQuery(diffQuery(orderId));
  if (diff.isPending) {
    return (
      <Frame>
        <PanelSkeleton label="Loading the diff" rows={12} />
      </Frame>
    );
  }
  if (diff.isError) return <ErrorState error={diff.error} onRetry={() => void diff.refetch()} />;
  const { diff: patch, truncated } = diff.data;
  if (patch.trim() === "") {
    return (
      <Frame>
        <EmptyState icon={FileDiff} title="No changes yet">
          {isOpen(order)
            ? "Changes appear here with the agent's first commit."
            : "This order ended without changing a file."}
        </EmptyState>
      </Frame>
    );
  }
  return (
    <Frame className={TALL}>
      <DiffView
        patch={patch}
        truncated={truncated}
        storageKey={`awo.viewed.${orderId}`}
        withFiles
        withKeys
        className="h-full"
      />
    </Frame>
  );
}
