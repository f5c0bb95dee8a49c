import { Scissors } from "lucide-react";
import { memo, useCallback, useMemo, useRef, useState } from "react";

import { parseDiff, type DiffFile } from "@/lib/diff";
import { useMedia } from "@/lib/use-media";
import { useShortcuts } from "@/lib/shortcuts";
import { cx } from "@/ui/cx";
import { VirtualList, type VirtualListHandle } from "@/ui/virtual-list";

import { DiffFiles } from "./diff-files";
import { FileRow } from "./diff-file-row";
import { HunkRow, LineRow, NoteRow, SplitRow } from "./diff-lines";
import {
  collapsedFiles,
  fileStarts,
  nextFile,
  viewRows,
  type DiffLayout,
  type ViewRow,
} from "./diff-model";
import { DiffToolbar } from "./diff-toolbar";
import { useViewed } from "./use-viewed";

export interface DiffViewProps {
  patch: string;
  truncated: boolean;
  /** Where marks of viewed files are kept in this browser. */
  storageKey: string;
  /** Files beside the lines at first; small diffs inside lists go without. */
  withFiles?: boolean;
  /** `j` and `k` go from file to file: for the one diff of a page. */
  withKeys?: boolean;
  className?: string;
}

/** As high as the rows are drawn: a right guess costs nothing, a wrong one moves all below it. */
const ROW_PX = { file: 38, note: 36, hunk: 24, line: 20, pair: 20 } satisfies Record<
  ViewRow["type"],
  number
>;

/** A patch of any size: only what is in sight is drawn. */
export function DiffView(props: DiffViewProps) {
  const { patch, truncated, storageKey, withFiles = false, className } = props;
  const files = useMemo(() => parseDiff(patch), [patch]);
  const isWide = useMedia("(min-width: 64rem)");
  const [wanted, setWanted] = useState<DiffLayout>("unified");
  const [filesShown, setFilesShown] = useState<boolean | null>(null);
  const [chosen, setChosen] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [top, setTop] = useState(0);
  const list = useRef<VirtualListHandle>(null);
  const viewed = useViewed(storageKey);

  const layout = isWide ? wanted : "unified";
  const collapsed = useMemo(() => collapsedFiles(files, chosen), [files, chosen]);
  const rows = useMemo(() => viewRows(files, collapsed, layout), [files, collapsed, layout]);
  const starts = useMemo(() => fileStarts(rows), [rows]);
  // The list measures all rows anew when these change.
  const keyOf = useCallback((index: number) => rows[index]?.key ?? index, [rows]);
  const first = rows[Math.min(top, rows.length - 1)];
  const showFiles = filesShown ?? (withFiles && isWide && files.length > 1);

  const jump = (index: number | null) => {
    if (index !== null) list.current?.scrollToIndex(index, "start");
  };
  useShortcuts(
    props.withKeys
      ? [
          {
            keys: "j",
            label: "Next file",
            group: "Diff",
            run: () => jump(nextFile(starts, top, 1)),
          },
          {
            keys: "k",
            label: "Previous file",
            group: "Diff",
            run: () => jump(nextFile(starts, top, -1)),
          },
        ]
      : [],
  );

  const fold = (file: DiffFile, isFolded: boolean) =>
    setChosen((old) => new Map(old).set(file.key, isFolded));
  const pick = (file: DiffFile) => {
    jump(starts[files.indexOf(file)] ?? null);
    if (!isWide) setFilesShown(false);
  };
  const fileRow = (file: DiffFile) => (
    <FileRow
      file={file}
      collapsed={collapsed.has(file.key)}
      viewed={viewed.isViewed(file)}
      onCollapse={(isFolded) => {
        fold(file, isFolded);
        // Folding from the bar at the top: stay with the file.
        if (first?.type !== "file") jump(starts[files.indexOf(file)] ?? null);
      }}
      onViewed={(isViewed) => {
        viewed.toggle(file, isViewed);
        fold(file, isViewed);
      }}
    />
  );

  return (
    <div className={cx("flex min-h-0 flex-col bg-surface", className)}>
      <DiffToolbar
        files={files}
        viewed={files.filter(viewed.isViewed).length}
        layout={layout}
        canSplit={isWide}
        withKeys={props.withKeys ?? false}
        filesShown={showFiles}
        onLayout={setWanted}
        onFilesShown={setFilesShown}
        onCollapseAll={(isFolded) =>
          setChosen(new Map(files.map((file) => [file.key, isFolded] as const)))
        }
      />
      {truncated && <TruncatedNote />}
      <div className="flex min-h-0 flex-1 max-lg:flex-col">
        {showFiles && (
          <DiffFiles
            files={files}
            current={first?.file.key ?? null}
            isViewed={viewed.isViewed}
            onPick={pick}
            className="border-line max-lg:max-h-64 max-lg:border-b lg:w-72 lg:shrink-0 lg:border-r"
          />
        )}
        <VirtualList
          handle={list}
          label="Changed lines"
          data-testid="diff-lines"
          count={rows.length}
          estimateSize={(index) => ROW_PX[rows[index]?.type ?? "line"]}
          getKey={keyOf}
          overscan={20}
          onRangeChange={setTop}
          className="min-h-0 min-w-0 flex-1"
          header={
            first && first.type !== "file" ? (
              <div className="h-0">
                <div className="absolute inset-x-0 top-0 shadow-float">{fileRow(first.file)}</div>
              </div>
            ) : undefined
          }
          renderRow={(index) => {
            const row = rows[index];
            if (!row) return null;
            if (row.type === "file") return fileRow(row.file);
            return <ContentRow row={row} />;
          }}
        />
      </div>
    </div>
  );
}

interface ContentRowProps {
  row: Exclude<ViewRow, { type: "file" }>;
}

const ContentRow = memo(function ContentRow({ row }: ContentRowProps) {
  switch (row.type) {
    case "note":
      return <NoteRow text={row.text} />;
    case "hunk":
      return <HunkRow header={row.hunk.header} />;
    case "line":
      return <LineRow row={row} />;
    case "pair":
      return <SplitRow row={row} />;
  }
});

function TruncatedNote() {
  return (
    <p className="flex items-center gap-2 border-b border-line bg-attention-wash px-3 py-2 text-[13px] text-attention">
      <Scissors aria-hidden className="size-4 shrink-0" />
      The diff is longer than 4 MB and is cut here. The branch has all of it.
    </p>
  );
}
