import type { ReactNode } from "react";

import { clean } from "@/lib/text";
import { CopyButton } from "@/ui/copy-button";
import { cx } from "@/ui/cx";

/** A name or a command inside text. */
export function Code({ children, className }: { children: ReactNode; className?: string }) {
  return (
    <code
      className={cx(
        "rounded bg-sunken px-1 py-px font-mono text-[0.92em] break-words text-ink",
        className,
      )}
    >
      {typeof children === "string" ? clean(children) : children}
    </code>
  );
}

export interface CodeBlockProps {
  text: string;
  /** Names the region for screen readers. */
  label: string;
  /** Break long lines instead of scrolling. */
  wrap?: boolean;
  copy?: boolean;
  className?: string;
}

/** Lines of code or output; scrolls inside itself, by keyboard too. */
export function CodeBlock({ text, label, wrap = false, copy = true, className }: CodeBlockProps) {
  return (
    <div className="relative min-w-0">
      <pre
        tabIndex={0}
        role="region"
        aria-label={label}
        className={cx(
          "max-h-96 overflow-auto rounded-md border border-line bg-sunken p-3 font-mono text-[13px] leading-5",
          copy && "pr-11",
          wrap ? "break-words whitespace-pre-wrap" : "whitespace-pre",
          className,
        )}
      >
        <code>{clean(text)}</code>
      </pre>
      {copy && (
        <div className="absolute top-1.5 right-1.5">
          <CopyButton text={text} label={`Copy ${label}`} className="bg-sunken" />
        </div>
      )}
    </div>
  );
}
