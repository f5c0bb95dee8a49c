import { useState, type ReactNode } from "react";

import { truncateAnsi } from "./ansi";
import { markMatches } from "@/lib/highlight";
import { clean } from "@/lib/text";
import { Button } from "@/ui/button";

/** How much more each press shows: even a line of a megabyte stays quick. */
const STEP_CHARS = 20_000;

export interface BoundedTextProps {
  text: string;
  /** What is shown at first. */
  max?: number;
  query?: string;
  /** Draws the part that is shown; cleaned text with marks if left out. */
  draw?: (text: string) => ReactNode;
}

/** Text of any length: the beginning, and a button for more. */
export function BoundedText({ text, max = 4000, query = "", draw }: BoundedTextProps) {
  const [shown, setShown] = useState(max);
  const part = truncateAnsi(text, shown);
  // With the sign of the cut it is as long as without.
  const left = part === text ? 0 : text.length - part.length + 1;
  return (
    <>
      {draw ? draw(part) : <MarkedText text={clean(part)} query={query} />}
      {left > 0 && (
        <span className="mt-1 flex flex-wrap items-center gap-2 font-sans whitespace-normal">
          <Button size="sm" onClick={() => setShown(shown + STEP_CHARS)}>
            Show more
          </Button>
          <span className="text-xs text-ink-faint">
            {left.toLocaleString("en-US")} more characters
          </span>
        </span>
      )}
    </>
  );
}

/** Text that is clean already, with what is searched for marked. */
export function MarkedText({ text, query }: { text: string; query: string }) {
  if (query.trim() === "") return <>{text}</>;
  return (
    <>
      {markMatches(text, query).map((piece, index) =>
        piece.match ? (
          <mark key={index} className="rounded-sm bg-attention-wash text-attention">
            {piece.text}
          </mark>
        ) : (
          piece.text
        ),
      )}
    </>
  );
}
