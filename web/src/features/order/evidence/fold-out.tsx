import { ChevronDown, ChevronRight, type LucideIcon } from "lucide-react";
import { useState, type ReactNode } from "react";

export interface FoldOutProps {
  icon: LucideIcon;
  /** One line of text. */
  title: ReactNode;
  /** Short things below the title. */
  facts: ReactNode;
  /** At the right, outside of what unfolds. */
  aside?: ReactNode;
  /** Drawn, and so loaded, only when it is unfolded. */
  children: () => ReactNode;
}

/** One item of a list that unfolds to its content. */
export function FoldOut({ icon: Icon, title, facts, aside, children }: FoldOutProps) {
  const [open, setOpen] = useState(false);
  const Chevron = open ? ChevronDown : ChevronRight;
  return (
    <li className="border-b border-line last:border-b-0">
      <div className="flex items-start gap-2 px-2 py-2 sm:px-4">
        <button
          type="button"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
          className="flex min-h-6 min-w-0 flex-1 cursor-pointer items-start gap-2 rounded text-left"
        >
          <Chevron aria-hidden className="mt-0.5 size-4 shrink-0 text-ink-faint" />
          <Icon aria-hidden className="mt-0.5 size-4 shrink-0 text-ink-faint max-sm:hidden" />
          <span className="min-w-0">
            <bdi className="block font-medium [overflow-wrap:anywhere]">{title}</bdi>
            <span className="mt-0.5 flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-soft">
              {facts}
            </span>
          </span>
        </button>
        {aside}
      </div>
      {open && <div className="border-t border-line bg-sunken">{children()}</div>}
    </li>
  );
}
