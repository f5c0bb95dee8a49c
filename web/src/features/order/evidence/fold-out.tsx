import { ChevronDown, ChevronRight, type LucideIcon } from "lucide-react";
import { useState, type ReactNode } from "react";

import { cx } from "@/ui/cx";
import { TONE_TEXT, type Look } from "@/ui/tone";

export interface FoldOutProps {
  /** Decoration, unless it says something: then with its words and tone. */
  icon: LucideIcon | Look;
  /** One line of text. */
  title: ReactNode;
  /** Short things below the title. */
  facts?: ReactNode;
  /** At the right, outside of what unfolds. */
  aside?: ReactNode;
  /** Whether it begins unfolded. */
  initially?: boolean;
  /** Drawn, and so loaded, only when it is unfolded. */
  children: () => ReactNode;
}

/** One item of a list that unfolds to its content. */
export function FoldOut({ icon, title, facts, aside, initially = false, children }: FoldOutProps) {
  const [open, setOpen] = useState(initially);
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
          <Mark icon={icon} />
          <span className="min-w-0">
            <bdi className="block font-medium [overflow-wrap:anywhere]">{title}</bdi>
            {facts && (
              <span className="mt-0.5 flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-soft">
                {facts}
              </span>
            )}
          </span>
        </button>
        {aside}
      </div>
      {open && <div className="border-t border-line bg-sunken">{children()}</div>}
    </li>
  );
}

function Mark({ icon }: Pick<FoldOutProps, "icon">) {
  const place = "mt-0.5 size-4 shrink-0";
  if ("label" in icon) {
    const { icon: Icon, label, tone } = icon;
    return <Icon aria-label={label} className={cx(place, TONE_TEXT[tone])} />;
  }
  const Icon = icon;
  return <Icon aria-hidden className={cx(place, "text-ink-faint max-sm:hidden")} />;
}
