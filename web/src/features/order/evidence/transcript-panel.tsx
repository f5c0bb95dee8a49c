import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { MessagesSquare } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";

import { tasksQuery, transcriptEntries, transcriptQuery } from "@/api/orders";
import { plural } from "@/lib/text";
import { blocksOf } from "./transcript";
import { EmptyState } from "@/ui/empty-state";
import { ErrorState } from "@/ui/error-state";
import { VirtualList, type VirtualListHandle } from "@/ui/virtual-list";

import { Frame, isOpen, PanelSkeleton, TALL, type PanelProps } from "./panel-states";
import { TranscriptBlock } from "./transcript-block";
import {
  chosenTranscript,
  findBlocks,
  stepHit,
  transcriptChoices,
  type TranscriptChoice,
} from "./transcript-model";
import { TranscriptToolbar } from "./transcript-toolbar";
import { JumpToLatest, useFollow } from "./use-follow";

/** What an agent says between two lines of the log comes without an event. */
const POLL_MS = 2000;
/** 100,000 entries; more than a person reads. */
const MOST_PAGES = 200;
const BLOCK_PX = 48;

export interface TranscriptPanelProps extends PanelProps {
  /** Whose transcript, from the address of the page. */
  task: string | undefined;
  onTask: (task: string) => void;
}

/** What the agents of an order said and did. */
export function TranscriptPanel({ orderId, order, task, onTask }: TranscriptPanelProps) {
  const latest = useInfiniteQuery(transcriptQuery(orderId, null));
  const tasks = useQuery(tasksQuery(orderId));
  if (latest.isPending) {
    return (
      <Frame>
        <PanelSkeleton label="Loading the transcript" />
      </Frame>
    );
  }
  if (latest.isError && !latest.data) {
    return <ErrorState error={latest.error} onRetry={() => void latest.refetch()} />;
  }
  const choices = transcriptChoices(latest.data.pages[0]?.tasks ?? [], tasks.data ?? []);
  const chosen = chosenTranscript(choices, task);
  if (!chosen) {
    return (
      <Frame>
        <EmptyState icon={MessagesSquare} title="No agent has spoken yet">
          {isOpen(order)
            ? "The transcript appears here when the first agent starts."
            : "No agent ran in this order."}
        </EmptyState>
      </Frame>
    );
  }
  return (
    <Transcript
      key={chosen.name}
      orderId={orderId}
      choices={choices}
      chosen={chosen}
      isLive={isOpen(order)}
      onChoose={onTask}
    />
  );
}

interface TranscriptProps {
  orderId: string;
  choices: readonly TranscriptChoice[];
  chosen: TranscriptChoice;
  isLive: boolean;
  onChoose: (name: string) => void;
}

function Transcript({ orderId, choices, chosen, isLive, onChoose }: TranscriptProps) {
  const { isRunning } = chosen;
  const transcript = useInfiniteQuery({
    ...transcriptQuery(orderId, chosen.name),
    refetchInterval: isRunning && isLive ? POLL_MS : false,
  });
  const blocks = useMemo(() => blocksOf(transcriptEntries(transcript.data)), [transcript.data]);
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const [query, setQuery] = useState("");
  const [hit, setHit] = useState(0);
  const list = useRef<VirtualListHandle>(null);
  const follow = useFollow({
    list,
    count: blocks.length,
    version: transcript.dataUpdatedAt,
    initially: isRunning,
  });
  const hits = useMemo(() => findBlocks(blocks, query), [blocks, query]);
  const current = hits[Math.min(hit, hits.length - 1)];

  const { hasNextPage, isFetching, fetchNextPage } = transcript;
  const pages = transcript.data?.pages.length ?? 0;
  // Outside system: the server. All of it is read, a page at a time, so that search finds it.
  useEffect(() => {
    if (hasNextPage && !isFetching && pages < MOST_PAGES) void fetchNextPage();
  }, [hasNextPage, isFetching, pages, fetchNextPage]);

  const go = (to: number) => {
    setHit(to);
    const index = hits[to];
    if (index === undefined) return;
    follow.stop();
    list.current?.scrollToIndex(index, "center");
  };
  const toggle = (id: string) =>
    setToggled((old) => {
      const next = new Set(old);
      if (!next.delete(id)) next.add(id);
      return next;
    });

  return (
    <Frame className={`flex flex-col ${TALL}`}>
      <TranscriptToolbar
        choices={choices}
        chosen={chosen}
        onChoose={onChoose}
        query={query}
        onQuery={(text) => {
          setQuery(text);
          setHit(0);
          const first = findBlocks(blocks, text)[0];
          if (first !== undefined) {
            follow.stop();
            list.current?.scrollToIndex(first, "center");
          }
        }}
        hit={Math.min(hit, hits.length - 1)}
        hits={hits.length}
        onStep={(step) => go(stepHit(hits.length, Math.min(hit, hits.length - 1), step))}
      />
      {transcript.isPending && <PanelSkeleton label="Loading the transcript" />}
      {transcript.isError && (
        <ErrorState
          className="m-4"
          error={transcript.error}
          onRetry={() => void transcript.refetch()}
        />
      )}
      {transcript.isSuccess && blocks.length === 0 && (
        <EmptyState icon={MessagesSquare} title="Nothing said yet">
          {isRunning ? "The agent has started. Its words appear here." : "This agent said nothing."}
        </EmptyState>
      )}
      {blocks.length > 0 && (
        <div className="relative flex min-h-0 flex-1 flex-col" {...follow.region}>
          <VirtualList
            handle={list}
            label="Transcript"
            data-testid="transcript"
            count={blocks.length}
            estimateSize={BLOCK_PX}
            overscan={8}
            onFollowChange={follow.onFollowChange}
            className="min-h-0 flex-1"
            renderRow={(index) => {
              const block = blocks[index];
              if (!block) return null;
              const isHit = index === current;
              return (
                <TranscriptBlock
                  block={block}
                  // What was found is unfolded; a fold that the reader chose stays.
                  open={toggled.has(block.id) !== isHit}
                  isHit={isHit}
                  query={query}
                  isRunning={isRunning && isLive}
                  onToggle={() => toggle(block.id)}
                />
              );
            }}
          />
          {isRunning && <JumpToLatest follow={follow} noun="block" />}
          <p role="status" className="border-t border-line px-3 py-1.5 text-xs text-ink-soft">
            {plural(blocks.length, "block")}
            {hasNextPage && (pages < MOST_PAGES ? ", more is loading" : ", the rest is left out")}
            {isRunning && isLive && ", the agent is at work"}
          </p>
        </div>
      )}
    </Frame>
  );
}
