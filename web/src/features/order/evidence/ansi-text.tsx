import { useMemo } from "react";

import { parseAnsi, type AnsiTone, type Segment } from "./ansi";
import { cx } from "@/ui/cx";

import { MarkedText } from "./bounded-text";

/** The sixteen colours of terminals in those of the theme, so that all are legible in both. */
const TONE: Record<AnsiTone, string> = {
  black: "text-ink-soft",
  red: "text-bad",
  green: "text-good",
  yellow: "text-attention",
  blue: "text-active",
  magenta: "text-quiet",
  cyan: "text-accent",
  white: "text-ink",
  "bright-black": "text-ink-faint",
  "bright-red": "text-bad",
  "bright-green": "text-good",
  "bright-yellow": "text-attention",
  "bright-blue": "text-active",
  "bright-magenta": "text-quiet",
  "bright-cyan": "text-accent",
  "bright-white": "text-ink",
};

function look(segment: Segment): string {
  return cx(
    segment.tone && TONE[segment.tone],
    segment.bold && "font-semibold",
    segment.dim && "text-ink-faint",
    segment.italic && "italic",
    segment.underline && "underline",
    segment.inverse && "bg-hover",
  );
}

/** Output of programs with its colours, as text and nothing else. */
export function AnsiText({ text, query = "" }: { text: string; query?: string }) {
  const segments = useMemo(() => parseAnsi(text), [text]);
  return (
    <>
      {segments.map((segment, index) => (
        <span key={index} className={look(segment)}>
          <MarkedText text={segment.text} query={query} />
        </span>
      ))}
    </>
  );
}
