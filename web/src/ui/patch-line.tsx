import { clean, truncate } from "@/lib/text";
import { cx } from "@/ui/cx";

/** Longer lines are not code that somebody reads here. */
const MOST_CHARS = 2000;

const LOOK = {
  context: { sign: " ", look: "" },
  add: { sign: "+", look: "bg-diff-add" },
  del: { sign: "-", look: "bg-diff-del" },
  nonewline: { sign: " ", look: "text-ink-faint" },
} satisfies Record<string, { sign: string; look: string }>;

export interface PatchLineProps {
  kind: keyof typeof LOOK;
  text: string;
}

/** One line of a small diff, its kind told by a sign as well as by colour. Stands in a `pre`. */
export function PatchLine({ kind, text }: PatchLineProps) {
  const { sign, look } = LOOK[kind];
  return (
    <div className={cx("min-w-max px-4 whitespace-pre", look)}>
      {sign} {truncate(clean(text), MOST_CHARS)}
    </div>
  );
}
