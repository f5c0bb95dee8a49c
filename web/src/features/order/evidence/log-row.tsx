import { Bug, ChevronDown, ChevronRight, CircleAlert, Info, TriangleAlert } from "lucide-react";
import type { LucideIcon } from "lucide-react";
import { memo } from "react";

import type { LogEntry } from "@/api/types";
import { truncateAnsi } from "./ansi";
import { logLine, type LogTone } from "./log-line";
import { exact } from "@/lib/time";
import { truncate } from "@/lib/text";
import { CopyButton } from "@/ui/copy-button";
import { cx } from "@/ui/cx";
import { Skeleton } from "@/ui/skeleton";

import { AnsiText } from "./ansi-text";
import { BoundedText } from "./bounded-text";

const LEVELS: Record<string, { icon: LucideIcon; label: string; className: string }> = {
  debug: { icon: Bug, label: "debug", className: "text-ink-faint" },
  info: { icon: Info, label: "info", className: "text-active" },
  warning: { icon: TriangleAlert, label: "warning", className: "text-attention" },
  error: { icon: CircleAlert, label: "error", className: "text-bad" },
};

const TITLE = {
  neutral: "",
  good: "text-good",
  warning: "text-attention",
  danger: "text-bad",
} satisfies Record<LogTone, string>;

/** Of a folded line nobody sees more than this. */
const ROW_CHARS = 300;

export interface LogRowProps {
  index: number;
  /** Undefined while its page is on the way. */
  entry: LogEntry | undefined;
  open: boolean;
  query: string;
  onToggle: (index: number) => void;
}

/** Exactly 28 pixels high while folded, as the list expects. */
export const LogRow = memo(function LogRow(props: LogRowProps) {
  const { index, entry, open, query, onToggle } = props;
  if (!entry) {
    return (
      <div className="flex h-[28px] items-center gap-3 px-3">
        <Skeleton className="h-3.5 w-16" />
        <Skeleton className="h-3.5 w-1/2" />
      </div>
    );
  }
  const line = logLine(entry);
  const level = LEVELS[line.level] ?? { icon: Info, label: line.level, className: "text-ink-soft" };
  const Chevron = open ? ChevronDown : ChevronRight;
  const rest = line.details.map(([name, value]) => `${name}=${truncateAnsi(value, ROW_CHARS)}`);
  return (
    <div className={cx("border-l-2", open ? "border-accent bg-sunken" : "border-transparent")}>
      <button
        type="button"
        aria-expanded={open}
        onClick={() => onToggle(index)}
        className="flex h-[28px] w-full min-w-0 cursor-pointer items-center gap-2 px-2 text-left font-mono text-xs -outline-offset-2 hover:bg-hover"
      >
        <Chevron aria-hidden className="size-3.5 shrink-0 text-ink-faint" />
        <time
          dateTime={line.timestamp}
          title={exact(line.timestamp)}
          className="shrink-0 text-ink-faint tabular-nums"
        >
          {line.time}
        </time>
        <span className={cx("flex shrink-0 items-center gap-1 sm:w-20", level.className)}>
          <level.icon aria-hidden className="size-3.5" />
          <span className="max-sm:sr-only">{level.label}</span>
        </span>
        <span className="min-w-0 flex-1 truncate">
          <span className={cx("font-sans text-[13px]", TITLE[line.tone])}>
            <AnsiText text={truncateAnsi(line.title, ROW_CHARS)} query={query} />
          </span>
          {rest.length > 0 && (
            <span className="ml-2 text-ink-faint">
              <AnsiText
                text={truncateAnsi(rest.join(" ").replaceAll("\n", "⏎"), ROW_CHARS)}
                query={query}
              />
            </span>
          )}
        </span>
      </button>
      {open && <LogDetails entry={entry} query={query} />}
    </div>
  );
});

function LogDetails({ entry, query }: { entry: LogEntry; query: string }) {
  const fields = Object.entries(entry);
  return (
    <div className="flex items-start gap-2 px-3 pt-1 pb-3 pl-8">
      <dl className="grid min-w-0 flex-1 grid-cols-[minmax(5rem,auto)_1fr] gap-x-4 gap-y-0.5 font-mono text-xs">
        {fields.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="max-w-48 [overflow-wrap:anywhere] text-ink-faint">
              {truncate(name, 80)}
            </dt>
            <dd className="min-w-0 [overflow-wrap:anywhere] whitespace-pre-wrap">
              <BoundedText
                text={typeof value === "string" ? value : JSON.stringify(value, null, 2)}
                draw={(text) => <AnsiText text={text} query={query} />}
              />
            </dd>
          </div>
        ))}
      </dl>
      <CopyButton text={() => JSON.stringify(entry)} label="Copy this line as JSON" />
    </div>
  );
}
