import { ChevronsDownUp, ChevronsUpDown, Columns2, PanelLeft, Rows3 } from "lucide-react";

import type { DiffFile } from "@/lib/diff";
import { summariseDiff } from "./diff-rows";
import { plural } from "@/lib/text";
import { Button } from "@/ui/button";
import { cx } from "@/ui/cx";
import { IconButton } from "@/ui/icon-button";
import { Kbd } from "@/ui/kbd";

import type { DiffLayout } from "./diff-model";

export interface DiffToolbarProps {
  files: readonly DiffFile[];
  viewed: number;
  layout: DiffLayout;
  /** Two columns need room. */
  canSplit: boolean;
  withKeys: boolean;
  filesShown: boolean;
  onLayout: (layout: DiffLayout) => void;
  onFilesShown: (shown: boolean) => void;
  onCollapseAll: (collapsed: boolean) => void;
}

export function DiffToolbar(props: DiffToolbarProps) {
  const { files, viewed, layout, canSplit, filesShown } = props;
  return (
    <div className="flex min-h-11 flex-wrap items-center gap-2 border-b border-line px-2 py-1.5">
      <Button
        size="sm"
        icon={PanelLeft}
        aria-pressed={filesShown}
        onClick={() => props.onFilesShown(!filesShown)}
      >
        Files
      </Button>
      <p className="min-w-0 text-[13px] text-ink-soft">
        {summariseDiff(files)}
        {viewed > 0 && ` · ${viewed} of ${plural(files.length, "file")} viewed`}
      </p>
      <div className="ml-auto flex items-center gap-1">
        {props.withKeys && (
          <span className="mr-1 flex items-center gap-1 text-xs text-ink-faint max-lg:hidden">
            <Kbd keys="j" /> <Kbd keys="k" /> next, previous file
          </span>
        )}
        {canSplit && (
          <div role="group" aria-label="Layout" className="flex">
            <LayoutButton {...props} value="unified" />
            <LayoutButton {...props} value="split" />
          </div>
        )}
        <IconButton
          size="sm"
          icon={ChevronsUpDown}
          label="Unfold all files"
          onClick={() => props.onCollapseAll(false)}
        />
        <IconButton
          size="sm"
          icon={ChevronsDownUp}
          label="Fold all files"
          onClick={() => props.onCollapseAll(true)}
        />
      </div>
      <span className="sr-only" role="status">
        {canSplit && layout === "split" ? "Shown side by side" : ""}
      </span>
    </div>
  );
}

const LAYOUT_LOOK = {
  unified: { label: "One column", icon: Rows3 },
  split: { label: "Side by side", icon: Columns2 },
} as const;

function LayoutButton({ value, layout, onLayout }: DiffToolbarProps & { value: DiffLayout }) {
  const { label, icon } = LAYOUT_LOOK[value];
  const isOn = layout === value;
  return (
    <IconButton
      size="sm"
      icon={icon}
      label={label}
      aria-pressed={isOn}
      className={cx(isOn && "bg-hover text-ink!")}
      onClick={() => onLayout(value)}
    />
  );
}
