import { useQuery } from "@tanstack/react-query";
import { GitCommitHorizontal } from "lucide-react";
import { Suspense } from "react";

import { commitDiffQuery } from "@/api/orders";
import type { Commit, CommitDiff } from "@/api/types";
import { late } from "@/lib/late-code";
import { clean, truncate } from "@/lib/text";
import { Arriving } from "@/ui/arriving";
import { Badge } from "@/ui/badge";
import { CopyButton } from "@/ui/copy-button";
import { ErrorState } from "@/ui/error-state";
import { SafeText } from "@/ui/safe-text";
import { RelativeTime } from "@/ui/time";

import { ChangeNumbers } from "./change-numbers";
import { FoldOut } from "./fold-out";
import { bodyForPeople } from "./git-model";
import { PanelSkeleton } from "./panel-states";

// The code of the diff comes when the first one is opened.
const DiffView = late(async () => (await import("./diff-view")).DiffView);

export function CommitItem({ orderId, commit }: { orderId: string; commit: Commit }) {
  const short = commit.sha.slice(0, 7);
  return (
    <FoldOut
      icon={GitCommitHorizontal}
      title={truncate(clean(commit.subject), 300)}
      facts={
        <>
          {commit.phase && <Badge tone="quiet">{truncate(clean(commit.phase), 40)}</Badge>}
          <SafeText text={commit.author} max={60} />
          <RelativeTime value={commit.at} />
          <ChangeNumbers
            additions={commit.lines_added ?? 0}
            deletions={commit.lines_removed ?? 0}
            bar
          />
        </>
      }
      aside={
        <span className="flex shrink-0 items-center gap-0.5">
          <code className="font-mono text-xs text-ink-soft">{short}</code>
          <CopyButton text={commit.sha} label={`Copy the whole hash of ${short}`} />
        </span>
      }
    >
      {() => <CommitContent orderId={orderId} commit={commit} />}
    </FoldOut>
  );
}

function CommitContent({ orderId, commit }: { orderId: string; commit: Commit }) {
  const diff = useQuery(commitDiffQuery(orderId, commit.sha));
  const body = bodyForPeople(commit.body);
  const skeleton = <PanelSkeleton label="Loading the commit's diff" rows={4} />;
  return (
    <>
      {body !== "" && (
        <SafeText lines text={body} max={4000} className="block px-4 py-3 text-[13px]" />
      )}
      {diff.isPending && skeleton}
      {diff.isError && (
        <ErrorState className="m-4" error={diff.error} onRetry={() => void diff.refetch()} />
      )}
      {diff.data && (
        <Suspense fallback={<Arriving label="Loading the changes">{skeleton}</Arriving>}>
          <CommitPatch orderId={orderId} sha={commit.sha} answer={diff.data} />
        </Suspense>
      )}
    </>
  );
}

/** As high as it needs to be, up to most of the window. */
function CommitPatch(props: { orderId: string; sha: string; answer: CommitDiff }) {
  const { orderId, sha, answer } = props;
  if (answer.diff.trim() === "") {
    return <p className="px-4 py-3 text-[13px] text-ink-soft">This commit changes no file.</p>;
  }
  const lines = answer.diff.length > 40_000 ? 1000 : answer.diff.split("\n").length;
  return (
    <div style={{ height: `min(70dvh, ${lines * 20 + 16}px)` }}>
      <DiffView
        patch={answer.diff}
        truncated={answer.truncated}
        storageKey={`awo.viewed.${orderId}.${sha}`}
        className="h-full"
      />
    </div>
  );
}
