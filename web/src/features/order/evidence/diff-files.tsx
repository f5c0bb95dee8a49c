import { Check, Search } from "lucide-react";
import { useState } from "react";

import type { DiffFile } from "@/lib/diff";
import { clean } from "@/lib/text";
import { cx } from "@/ui/cx";
import { TextInput } from "@/ui/text-input";
import { TONE_TEXT } from "@/ui/tone";
import { VirtualList } from "@/ui/virtual-list";

import { ChangeNumbers } from "./change-numbers";
import { KIND_LOOK } from "./diff-file-row";
import { pathOf } from "./diff-model";

export interface DiffFilesProps {
  files: readonly DiffFile[];
  current: string | null;
  isViewed: (file: DiffFile) => boolean;
  onPick: (file: DiffFile) => void;
  className?: string;
}

const ROW_PX = 44;

/** The changed files by name; picking one shows it. */
export function DiffFiles({ files, current, isViewed, onPick, className }: DiffFilesProps) {
  const [query, setQuery] = useState("");
  const wanted = query.trim().toLowerCase();
  const found = files.filter((file) => pathOf(file).toLowerCase().includes(wanted));
  return (
    <nav aria-label="Changed files" className={cx("flex min-h-0 flex-col", className)}>
      <div className="border-b border-line p-2">
        <TextInput
          icon={Search}
          type="search"
          aria-label="Find a file by its name"
          placeholder="Find a file"
          value={query}
          onChange={(event) => setQuery(event.target.value)}
        />
      </div>
      {found.length === 0 && (
        <p className="px-3 py-4 text-[13px] text-ink-soft">No file has this in its name.</p>
      )}
      <VirtualList
        label="Changed files"
        count={found.length}
        estimateSize={ROW_PX}
        fixed
        getKey={(index) => found[index]?.key ?? index}
        className="min-h-0 flex-1"
        renderRow={(index) => {
          const file = found[index];
          if (!file) return null;
          return (
            <FileItem
              file={file}
              isCurrent={file.key === current}
              viewed={isViewed(file)}
              onPick={() => onPick(file)}
            />
          );
        }}
      />
    </nav>
  );
}

interface FileItemProps {
  file: DiffFile;
  isCurrent: boolean;
  viewed: boolean;
  onPick: () => void;
}

function FileItem({ file, isCurrent, viewed, onPick }: FileItemProps) {
  const path = clean(pathOf(file));
  const slash = path.lastIndexOf("/");
  const look = KIND_LOOK[file.kind];
  return (
    <button
      type="button"
      aria-current={isCurrent || undefined}
      title={path}
      onClick={onPick}
      className={cx(
        "flex h-11 w-full cursor-pointer items-center gap-2 border-l-2 px-2 text-left -outline-offset-2 hover:bg-hover",
        isCurrent ? "border-accent bg-accent-wash" : "border-transparent",
      )}
    >
      <span
        aria-hidden
        className={cx("w-3 shrink-0 font-mono text-xs font-semibold", TONE_TEXT[look.tone])}
      >
        {look.letter}
      </span>
      <span className="min-w-0 flex-1">
        <span className={cx("block truncate text-[13px]", viewed && "text-ink-faint")}>
          {path.slice(slash + 1)}
        </span>
        <span className="block truncate text-[11px] text-ink-faint">
          {slash > 0 ? path.slice(0, slash) : "top folder"}
        </span>
      </span>
      <span className="sr-only">{look.label}</span>
      <ChangeNumbers additions={file.additions} deletions={file.deletions} bar />
      {viewed && <Check aria-label="viewed" className="size-3.5 shrink-0 text-good" />}
    </button>
  );
}
