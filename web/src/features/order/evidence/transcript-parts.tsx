import {
  Bot,
  Brain,
  ChevronDown,
  ChevronRight,
  CircleAlert,
  Coins,
  Info,
  MessageSquare,
  Wrench,
  type LucideIcon,
} from "lucide-react";
import type { ReactNode } from "react";

import { stripAnsi, truncateAnsi } from "./ansi";
import { truncate } from "@/lib/text";
import type { Block } from "./transcript";
import { CopyButton } from "@/ui/copy-button";
import { cx } from "@/ui/cx";

import { blockText } from "./transcript-model";

export interface BlockProps {
  block: Block;
  /** Unfolded; text of the agent always is. */
  open: boolean;
  /** Found by the search, and the one that is looked at. */
  isHit: boolean;
  query: string;
  /** Its task still runs: a tool without a result is at work. */
  isRunning: boolean;
  onToggle: () => void;
}

export const BLOCK_LOOK: Record<
  Block["kind"],
  { icon: LucideIcon; label: string; className: string }
> = {
  text: { icon: Bot, label: "Agent", className: "text-accent" },
  thinking: { icon: Brain, label: "Thinking", className: "text-quiet" },
  prompt: { icon: MessageSquare, label: "Prompt", className: "text-active" },
  error: { icon: CircleAlert, label: "Error", className: "text-bad" },
  system: { icon: Info, label: "System", className: "text-ink-faint" },
  tool: { icon: Wrench, label: "Tool", className: "text-ink-soft" },
  usage: { icon: Coins, label: "Turn ended", className: "text-ink-faint" },
};

export const PROSE = "[overflow-wrap:anywhere] whitespace-pre-wrap";
export const MONO = `${PROSE} rounded-md bg-sunken px-3 py-2 font-mono text-xs leading-5`;

/** For a folded block. Colours go first: cut in two they would be shown as text. */
export function firstWords(text: string): string {
  return truncate(stripAnsi(truncateAnsi(text, 400)).replace(/\s+/g, " ").trim(), 160);
}

export function Heading({ block }: { block: Block }) {
  const { icon: Icon, label, className } = BLOCK_LOOK[block.kind];
  return (
    <span className={cx("flex shrink-0 items-center gap-1.5 text-xs font-semibold", className)}>
      <Icon aria-hidden className="size-4" />
      {label}
      {block.subagent && <span className="font-normal text-ink-faint">helper</span>}
    </span>
  );
}

export function Said({ block, children }: { block: Block; children: ReactNode }) {
  return (
    <div className="group">
      <div className="flex min-h-6 items-center justify-between">
        <Heading block={block} />
        <CopyButton
          text={() => blockText(block)}
          label="Copy this text"
          className="opacity-0 group-hover:opacity-100 focus-visible:opacity-100"
        />
      </div>
      <bdi className={cx("block", PROSE)}>{children}</bdi>
    </div>
  );
}

interface FoldedProps extends BlockProps {
  summary: ReactNode;
  aside?: ReactNode;
  children: ReactNode;
}

export function Folded({ block, open, onToggle, summary, aside, children }: FoldedProps) {
  const Chevron = open ? ChevronDown : ChevronRight;
  return (
    <>
      <button
        type="button"
        aria-expanded={open}
        onClick={onToggle}
        className="flex min-h-7 w-full min-w-0 cursor-pointer items-center gap-2 rounded text-left"
      >
        <Heading block={block} />
        <bdi className="min-w-0 flex-1 truncate text-[13px] text-ink-soft">{summary}</bdi>
        {aside}
        <Chevron aria-hidden className="size-4 shrink-0 text-ink-faint" />
      </button>
      {open && <div className="mt-1 flex flex-col gap-2">{children}</div>}
    </>
  );
}

export function Part({
  title,
  text,
  children,
}: {
  title: string;
  text: string;
  children: ReactNode;
}) {
  return (
    <section aria-label={title}>
      <div className="flex items-center justify-between text-xs text-ink-faint">
        {title}
        <CopyButton text={text} label={`Copy: ${title}`} />
      </div>
      <div className={MONO}>{children}</div>
    </section>
  );
}
