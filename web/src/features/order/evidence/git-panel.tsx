import { useQuery } from "@tanstack/react-query";
import { GitCommitHorizontal } from "lucide-react";

import { commitsQuery, gitProgressQuery } from "@/api/orders";
import { plural } from "@/lib/text";
import { exact } from "@/lib/time";
import { Card } from "@/ui/card";
import { Code } from "@/ui/code";
import { CopyButton } from "@/ui/copy-button";
import { EmptyState } from "@/ui/empty-state";
import { ErrorState } from "@/ui/error-state";
import { RelativeTime } from "@/ui/time";

import { CommitItem } from "./commit-item";
import { commitDays } from "./git-model";
import { isOpen, PanelSkeleton, type PanelProps } from "./panel-states";
import { Stat, Stats } from "./stats";

/** What git says of the order: numbers, and each commit with its own diff. */
export function GitPanel({ orderId, order }: PanelProps) {
  const progress = useQuery(gitProgressQuery(orderId));
  const commits = useQuery(commitsQuery(orderId));
  // The order's own numbers stand in until git has answered.
  const numbers = progress.data ?? order;
  return (
    <div className="flex flex-col gap-4">
      <Card
        title="Branch"
        actions={
          progress.data && (
            <span className="text-xs text-ink-faint">
              Read <RelativeTime value={progress.data.snapshot_timestamp} />
            </span>
          )
        }
      >
        {order.git_branch_name && (
          <p className="mb-3 flex min-w-0 items-center gap-1">
            <Code className="min-w-0 [overflow-wrap:anywhere]">{order.git_branch_name}</Code>
            <CopyButton text={order.git_branch_name} label="Copy the branch's name" />
            {order.base_branch && (
              <span className="text-[13px] text-ink-soft">
                from <Code>{order.base_branch}</Code>
              </span>
            )}
          </p>
        )}
        {progress.isError && !progress.data && (
          <ErrorState
            className="mb-3"
            error={progress.error}
            onRetry={() => void progress.refetch()}
          />
        )}
        <Stats>
          <Stat label="Commits" value={numbers.git_commit_count.toLocaleString("en-US")} />
          <Stat label="Files changed" value={numbers.git_files_changed.toLocaleString("en-US")} />
          <Stat
            label="Lines added"
            value={`+${numbers.git_lines_added.toLocaleString("en-US")}`}
            tone="good"
          />
          <Stat
            label="Lines removed"
            value={`−${numbers.git_lines_removed.toLocaleString("en-US")}`}
            tone="bad"
          />
        </Stats>
      </Card>
      <Card title="Commits" flush>
        {commits.isPending && <PanelSkeleton label="Loading commits" rows={4} />}
        {commits.isError && !commits.data && (
          <ErrorState
            className="m-4"
            error={commits.error}
            onRetry={() => void commits.refetch()}
          />
        )}
        {commits.data && commits.data.commits.length === 0 && (
          <EmptyState icon={GitCommitHorizontal} title="No commits yet">
            {isOpen(order)
              ? "Each agent's task makes one commit when it has finished."
              : "This order ended without a commit."}
          </EmptyState>
        )}
        {commitDays(commits.data?.commits ?? []).map(({ day, commits: ofDay }) => (
          <section key={day} aria-label={`Commits of ${day}`}>
            <h3 className="border-b border-line bg-sunken px-4 py-1 text-xs font-medium text-ink-soft">
              {exact(ofDay[0]?.at).split(",")[0]} · {plural(ofDay.length, "commit")}
            </h3>
            <ol>
              {ofDay.map((commit) => (
                <CommitItem key={commit.sha} orderId={orderId} commit={commit} />
              ))}
            </ol>
          </section>
        ))}
      </Card>
    </div>
  );
}
