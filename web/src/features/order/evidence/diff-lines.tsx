import { useMemo } from "react";

import type { DiffLine } from "@/lib/diff";
import type { DiffRow } from "./diff-rows";
import { truncate } from "@/lib/text";
import { cx } from "@/ui/cx";

import { BoundedText } from "./bounded-text";
import { lineParts, visible, type LinePart, type PairRow } from "./diff-model";

const LOOK = {
  context: { wash: "", strong: "", sign: " ", word: "" },
  add: { wash: "bg-diff-add", strong: "bg-diff-add-strong", sign: "+", word: "added" },
  del: { wash: "bg-diff-del", strong: "bg-diff-del-strong", sign: "−", word: "removed" },
  nonewline: { wash: "", strong: "", sign: " ", word: "" },
} satisfies Record<DiffLine["kind"], { wash: string; strong: string; sign: string; word: string }>;

/** A minified line may be a megabyte; nobody reads that far. */
const LINE_CHARS = 2000;
const NUMBER = "w-11 shrink-0 pr-2 text-right text-ink-faint select-none";

export function HunkRow({ header }: { header: string }) {
  return (
    <div className="h-[24px] truncate bg-active-wash px-3 font-mono text-xs leading-[24px] text-active">
      {visible(truncate(header, 300))}
    </div>
  );
}

export function NoteRow({ text }: { text: string }) {
  return <div className="h-[36px] truncate px-4 text-[13px] leading-[36px] text-ink-soft italic">{text}</div>;
}

export function LineRow({ row }: { row: Extract<DiffRow, { type: "line" }> }) {
  const { line } = row;
  return (
    <div className={cx("flex font-mono text-xs leading-[20px]", LOOK[line.kind].wash)}>
      <span aria-hidden className={cx(NUMBER, "max-sm:hidden")}>
        {line.oldNumber}
      </span>
      <span aria-hidden className={NUMBER}>
        {line.newNumber ?? <span className="sm:hidden">{line.oldNumber}</span>}
      </span>
      <LineText line={line} counterpart={row.counterpart} />
    </div>
  );
}

export function SplitRow({ row }: { row: PairRow }) {
  const isChange = row.left?.kind === "del" && row.right?.kind === "add";
  return (
    <div className="grid grid-cols-2 font-mono text-xs leading-[20px]">
      <Side line={row.left} number={row.left?.oldNumber} counterpart={isChange ? row.right : null} />
      <div className="flex min-w-0 border-l border-line">
        <Side
          line={row.right}
          number={row.right?.newNumber}
          counterpart={isChange ? row.left : null}
        />
      </div>
    </div>
  );
}

interface SideProps {
  line: DiffLine | null;
  number: number | null | undefined;
  counterpart: DiffLine | null;
}

function Side({ line, number, counterpart }: SideProps) {
  if (!line) return <div aria-hidden className="min-w-0 flex-1 bg-sunken" />;
  return (
    <div className={cx("flex min-w-0 flex-1", LOOK[line.kind].wash)}>
      <span aria-hidden className={NUMBER}>
        {number}
      </span>
      <LineText line={line} counterpart={counterpart?.text ?? null} />
    </div>
  );
}

function LineText({ line, counterpart }: { line: DiffLine; counterpart: string | null }) {
  const look = LOOK[line.kind];
  if (line.kind === "nonewline") {
    return <span className="pl-5 text-ink-faint italic">{visible(truncate(line.text, 200))}</span>;
  }
  return (
    <>
      <span aria-hidden className="w-5 shrink-0 text-center text-ink-soft select-none">
        {look.sign}
      </span>
      <span className="sr-only">{look.word}</span>
      <code
        dir="ltr"
        className="min-w-0 flex-1 pr-2 [overflow-wrap:anywhere] whitespace-pre-wrap [tab-size:4]"
      >
        {line.text.length > LINE_CHARS ? (
          <BoundedText text={line.text} max={LINE_CHARS} draw={visible} />
        ) : (
          <Parts line={line} counterpart={counterpart} />
        )}
      </code>
    </>
  );
}

function Parts({ line, counterpart }: { line: DiffLine; counterpart: string | null }) {
  const parts = useMemo(() => lineParts(line, counterpart), [line, counterpart]);
  const strong = LOOK[line.kind].strong;
  // An empty line keeps its height.
  if (parts.every((part) => part.text === "")) return <>{"\u00a0"}</>;
  return <>{parts.map((part, index) => drawPart(part, index, strong))}</>;
}

function drawPart(part: LinePart, index: number, strong: string) {
  if (!part.changed && !part.trailing) return part.text;
  return (
    <span
      key={index}
      className={cx("rounded-[2px]", part.changed && strong, part.trailing && "text-attention")}
    >
      {part.text}
    </span>
  );
}
