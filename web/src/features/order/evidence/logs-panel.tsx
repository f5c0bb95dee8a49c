import { ArrowDown, ScrollText, SearchX } from "lucide-react";
import { useCallback, useDeferredValue, useRef, useState } from "react";

import { useLogWindow, type LogFilter } from "@/api/orders";
import type { LogLevel } from "@/api/types";
import { plural } from "@/lib/text";
import { Button } from "@/ui/button";
import { Checkbox } from "@/ui/checkbox";
import { EmptyState } from "@/ui/empty-state";
import { ErrorState } from "@/ui/error-state";
import { SearchBox } from "@/ui/search-box";
import { Select } from "@/ui/select";
import { VirtualList, type VirtualListHandle } from "@/ui/virtual-list";

import type { EvidenceView } from "../model";
import { LogDownload } from "./log-download";
import { LogRow } from "./log-row";
import { Frame, isOpen, PanelSkeleton, TALL, type PanelProps } from "./panel-states";
import { JumpToLatest, useFollow } from "./use-follow";

const LEVELS = [
  { value: "", label: "All levels" },
  { value: "error", label: "Errors" },
  { value: "warning", label: "Warnings" },
  { value: "info", label: "Info" },
  { value: "debug", label: "Debug" },
];
const LONGEST_SEARCH = 200;
const ROW_PX = 28;

export interface LogsPanelProps extends PanelProps {
  /** From the address of the page. */
  view: Pick<EvidenceView, "level" | "q" | "follow">;
  onView: (change: Partial<EvidenceView>) => void;
}

/** What happened, line by line; the server filters, the page draws what is in sight. */
export function LogsPanel({ orderId, order, view, onView }: LogsPanelProps) {
  const { level } = view;
  const q = view.q?.trim().slice(0, LONGEST_SEARCH);
  const filter: LogFilter = { ...(level && { level }), ...(q && { q }) };
  const isFiltered = Object.keys(filter).length > 0;

  return (
    <Frame className={`flex flex-col ${TALL}`}>
      <div className="flex flex-wrap items-center gap-2 border-b border-line p-2">
        <div className="min-w-40 flex-1 sm:max-w-80">
          <SearchBox
            label="Search the log"
            maxLength={LONGEST_SEARCH}
            value={view.q ?? ""}
            onSearch={(text) => onView({ q: text.trim() || undefined })}
          />
        </div>
        <Select
          aria-label="Level"
          options={LEVELS}
          value={level ?? ""}
          onValueChange={(value) => onView({ level: (value || undefined) as LogLevel | undefined })}
        />
        <div className="ml-auto">
          <LogDownload orderId={orderId} filter={filter} disabled={false} />
        </div>
      </div>
      <LogLines
        key={`${orderId}\n${level}\n${q}`}
        orderId={orderId}
        filter={filter}
        isRunning={isOpen(order)}
        begins={view.follow === "off" ? "top" : "end"}
        onFollow={(on) => onView({ follow: on ? undefined : "off" })}
        onClear={isFiltered ? () => onView({ level: undefined, q: undefined }) : undefined}
      />
    </Frame>
  );
}

interface LogLinesProps {
  orderId: string;
  filter: LogFilter;
  isRunning: boolean;
  /** Where reading begins while more comes. */
  begins: "top" | "end";
  onFollow: (on: boolean) => void;
  onClear: (() => void) | undefined;
}

function LogLines({ orderId, filter, isRunning, begins, onFollow, onClear }: LogLinesProps) {
  const log = useLogWindow(orderId, filter);
  const list = useRef<VirtualListHandle>(null);
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const follow = useFollow({ list, count: log.total, initially: isRunning && begins === "end" });
  const query = useDeferredValue(filter.q ?? "");
  const toggle = useCallback(
    (index: number) =>
      setOpen((old) => {
        const next = new Set(old);
        if (!next.delete(index)) next.add(index);
        return next;
      }),
    [],
  );

  if (log.isPending) return <PanelSkeleton label="Loading the log" rows={14} />;
  if (log.error && log.total === 0) {
    return <ErrorState className="m-4" error={log.error} onRetry={log.refetch} />;
  }
  if (log.total === 0) return <NoLines onClear={onClear} />;
  return (
    <div className="relative flex min-h-0 flex-1 flex-col" {...follow.region}>
      {log.error && <ErrorState className="m-2" error={log.error} onRetry={log.refetch} />}
      <VirtualList
        handle={list}
        label="Log"
        data-testid="log-lines"
        count={log.total}
        estimateSize={ROW_PX}
        overscan={8}
        onRangeChange={log.onRange}
        onFollowChange={follow.onFollowChange}
        className="min-h-0 flex-1"
        renderRow={(index) => (
          <LogRow
            index={index}
            entry={log.rowAt(index)}
            open={open.has(index)}
            query={query}
            onToggle={toggle}
          />
        )}
      />
      {isRunning && <JumpToLatest follow={follow} noun="line" />}
      <div className="flex min-h-9 items-center justify-between gap-3 border-t border-line px-3 py-1 text-xs text-ink-soft">
        <span role="status">{plural(log.total, onClear ? "matching line" : "line")}</span>
        {isRunning ? (
          <Checkbox
            label="Follow"
            checked={follow.following}
            onCheckedChange={(on) => {
              if (on) follow.jump();
              else follow.stop();
              onFollow(on);
            }}
            className="items-center! [&>button]:mt-0"
          />
        ) : (
          <Button size="sm" variant="ghost" icon={ArrowDown} onClick={follow.jump}>
            To the end
          </Button>
        )}
      </div>
    </div>
  );
}

function NoLines({ onClear }: { onClear: (() => void) | undefined }) {
  if (!onClear) {
    return (
      <EmptyState icon={ScrollText} title="Nothing logged yet">
        Lines appear here as soon as the order starts.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={SearchX}
      title="No line matches"
      action={<Button onClick={onClear}>Show all lines</Button>}
    >
      Try another word or level.
    </EmptyState>
  );
}
