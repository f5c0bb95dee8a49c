import { ChevronDown, ChevronRight } from "lucide-react";

import type { DiffFile, DiffKind } from "@/lib/diff";
import { clean } from "@/lib/text";
import { Badge } from "@/ui/badge";
import { Checkbox } from "@/ui/checkbox";
import { CopyButton } from "@/ui/copy-button";
import { cx } from "@/ui/cx";
import type { Tone } from "@/ui/tone";

import { ChangeNumbers } from "./change-numbers";
import { foldedReason, pathOf } from "./diff-model";

export const KIND_LOOK = {
  added: { label: "Added", letter: "A", tone: "good" },
  deleted: { label: "Deleted", letter: "D", tone: "bad" },
  modified: { label: "Modified", letter: "M", tone: "neutral" },
  renamed: { label: "Renamed", letter: "R", tone: "active" },
  copied: { label: "Copied", letter: "C", tone: "active" },
  mode: { label: "Mode", letter: "X", tone: "quiet" },
  binary: { label: "Binary", letter: "B", tone: "quiet" },
} satisfies Record<DiffKind, { label: string; letter: string; tone: Tone }>;

export interface FileRowProps {
  file: DiffFile;
  collapsed: boolean;
  viewed: boolean;
  onCollapse: (collapsed: boolean) => void;
  onViewed: (viewed: boolean) => void;
  className?: string;
}

export function FileRow(props: FileRowProps) {
  const { file, collapsed, viewed, onCollapse, onViewed, className } = props;
  const path = pathOf(file);
  const Chevron = collapsed ? ChevronRight : ChevronDown;
  const reason = foldedReason(file);
  const wasElsewhere = file.oldPath !== null && file.newPath !== null && file.oldPath !== path;
  return (
    <div
      className={cx(
        "flex min-h-[38px] items-center gap-2 border-y border-line bg-raised px-2 py-[2px]",
        className,
      )}
    >
      <button
        type="button"
        aria-expanded={!collapsed}
        onClick={() => onCollapse(!collapsed)}
        className="flex min-h-6 min-w-0 flex-1 cursor-pointer items-center gap-1.5 rounded text-left -outline-offset-2"
      >
        <Chevron aria-hidden className="size-4 shrink-0 text-ink-faint" />
        <span className="min-w-0 font-mono text-xs font-medium [overflow-wrap:anywhere]">
          {wasElsewhere && (
            <span className="font-normal text-ink-faint">{clean(file.oldPath ?? "")} → </span>
          )}
          {clean(path)}
        </span>
        {file.kind !== "modified" && (
          <Badge tone={KIND_LOOK[file.kind].tone}>{KIND_LOOK[file.kind].label}</Badge>
        )}
        {reason && (
          <Badge tone="quiet" className="max-sm:hidden">
            {reason}
          </Badge>
        )}
      </button>
      <ChangeNumbers additions={file.additions} deletions={file.deletions} />
      <CopyButton text={path} label={`Copy the path ${clean(path)}`} className="max-sm:hidden" />
      <Checkbox
        label={<span className="text-xs text-ink-soft max-sm:sr-only">Viewed</span>}
        checked={viewed}
        onCheckedChange={onViewed}
        className="items-center! [&>button]:mt-0"
      />
    </div>
  );
}
