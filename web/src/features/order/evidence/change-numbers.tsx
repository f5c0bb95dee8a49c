import { cx } from "@/ui/cx";

import { changeBar } from "./diff-model";

export interface ChangeNumbersProps {
  additions: number;
  deletions: number;
  bar?: boolean;
  className?: string;
}

/** "+12 −4", and their share as boxes. */
export function ChangeNumbers({ additions, deletions, bar, className }: ChangeNumbersProps) {
  return (
    <span className={cx("inline-flex shrink-0 items-center gap-1.5 text-xs tabular-nums", className)}>
      <span className="sr-only">{`${additions} added, ${deletions} removed`}</span>
      <span aria-hidden className="text-good">
        +{additions.toLocaleString("en-US")}
      </span>
      <span aria-hidden className="text-bad">
        −{deletions.toLocaleString("en-US")}
      </span>
      {bar && (
        <span aria-hidden className="flex gap-px">
          {changeBar(additions, deletions).map((kind, index) => (
            <span key={index} className={cx("size-2 rounded-[2px]", BOX[kind])} />
          ))}
        </span>
      )}
    </span>
  );
}

const BOX = { add: "bg-good", del: "bg-bad", none: "bg-line" };
