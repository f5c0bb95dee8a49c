import { useQuery } from "@tanstack/react-query";
import { FileText, Package } from "lucide-react";

import { artifactsQuery, artifactTextQuery } from "@/api/orders";
import type { Artifact } from "@/api/types";
import { bytes } from "./bytes";
import { clean, plural, truncate } from "@/lib/text";
import { Card } from "@/ui/card";
import { CopyButton } from "@/ui/copy-button";
import { EmptyState } from "@/ui/empty-state";
import { ErrorState } from "@/ui/error-state";
import { SafeText } from "@/ui/safe-text";
import { SkeletonText } from "@/ui/skeleton";
import { RelativeTime } from "@/ui/time";

import { AnsiText } from "./ansi-text";
import { ArtifactDownload } from "./artifact-download";
import { PREVIEW_CHARS, previewKind } from "./artifact-kind";
import { BoundedText } from "./bounded-text";
import { FoldOut } from "./fold-out";
import { isOpen, PanelSkeleton, type PanelProps } from "./panel-states";

/** What tasks left behind: reports, outputs, patches. */
export function ArtifactsPanel({ orderId, order }: PanelProps) {
  const artifacts = useQuery(artifactsQuery(orderId));
  const found = artifacts.data ?? [];
  const size = found.reduce((sum, artifact) => sum + artifact.size_bytes, 0);
  const summary = found.length > 0 ? `${plural(found.length, "file")}, ${bytes(size)}` : undefined;
  return (
    <Card title="Artifacts" description={summary} flush>
      {artifacts.isPending && <PanelSkeleton label="Loading artifacts" rows={4} />}
      {artifacts.isError && !artifacts.data && (
        <ErrorState
          className="m-4"
          error={artifacts.error}
          onRetry={() => void artifacts.refetch()}
        />
      )}
      {artifacts.data && found.length === 0 && (
        <EmptyState icon={Package} title="No artifacts yet">
          {isOpen(order)
            ? "Test reports and other files of tasks appear here when the tasks end."
            : "No task of this order kept a file."}
        </EmptyState>
      )}
      <ul>
        {found.map((artifact) => (
          <ArtifactItem
            key={`${artifact.task}\n${artifact.name}\n${artifact.sha256}`}
            orderId={orderId}
            artifact={artifact}
          />
        ))}
      </ul>
    </Card>
  );
}

function ArtifactItem({ orderId, artifact }: { orderId: string; artifact: Artifact }) {
  return (
    <FoldOut
      icon={FileText}
      title={truncate(clean(artifact.name), 200)}
      facts={
        <>
          <span className="tabular-nums">{bytes(artifact.size_bytes)}</span>
          <SafeText text={artifact.media_type} max={60} />
          {artifact.task && <SafeText text={artifact.task} max={80} className="font-mono" />}
          <RelativeTime value={artifact.created_at} />
        </>
      }
      aside={
        <span className="flex shrink-0 items-center gap-2">
          <span className="flex items-center max-sm:hidden" title={`sha256 ${artifact.sha256}`}>
            <code className="font-mono text-xs text-ink-faint">{artifact.sha256.slice(0, 10)}</code>
            <CopyButton text={artifact.sha256} label="Copy the sha256" />
          </span>
          <ArtifactDownload orderId={orderId} artifact={artifact} />
        </span>
      }
    >
      {() => <ArtifactPreview orderId={orderId} artifact={artifact} />}
    </FoldOut>
  );
}

function ArtifactPreview({ orderId, artifact }: { orderId: string; artifact: Artifact }) {
  const kind = previewKind(artifact);
  const words = {
    binary: "This is not text. Download it to look at it.",
    "too-large": "This is too large to show here. Download it to look at it.",
    empty: "This file is empty.",
  };
  return (
    <div className="px-4 py-3">
      {kind === "text" ? (
        <ArtifactText orderId={orderId} artifact={artifact} />
      ) : (
        <p className="text-[13px] text-ink-soft">{words[kind]}</p>
      )}
    </div>
  );
}

function ArtifactText({ orderId, artifact }: { orderId: string; artifact: Artifact }) {
  const content = useQuery(artifactTextQuery(orderId, artifact.sha256));
  if (content.isPending) return <SkeletonText lines={5} />;
  if (content.isError) {
    return <ErrorState error={content.error} onRetry={() => void content.refetch()} />;
  }
  const text = content.data.slice(0, PREVIEW_CHARS);
  return (
    <>
      <div
        tabIndex={0}
        role="region"
        aria-label={`Content of ${clean(artifact.name)}`}
        className="max-h-[60dvh] overflow-auto font-mono text-xs leading-5 [overflow-wrap:anywhere] whitespace-pre-wrap"
      >
        <BoundedText text={text} max={20_000} draw={(part) => <AnsiText text={part} />} />
      </div>
      {content.data.length > PREVIEW_CHARS && (
        <p className="mt-2 text-xs text-ink-soft">
          The first 256 KB are shown. The download has all of it.
        </p>
      )}
    </>
  );
}
