import { Plus, Search } from "lucide-react";

import { useMay } from "@/api/roles";
import { AccountMenu } from "@/app/account-menu";
import { LiveIndicator } from "@/app/live-indicator";
import { Mark } from "@/app/mark";
import { NAV, shownCount, type NavCounts } from "@/app/nav";
import { cx } from "@/ui/cx";
import { Kbd } from "@/ui/kbd";
import { ButtonLink, PlainLink } from "@/ui/link";

export interface BarProps {
  counts: NavCounts;
  onPalette: () => void;
  onShortcuts: () => void;
}

/** For wide screens. */
export function Sidebar({ counts, onPalette, onShortcuts }: BarProps) {
  const { allowed: mayOperate } = useMay("operate");
  return (
    <header className="sticky top-0 flex h-dvh w-64 shrink-0 flex-col gap-4 border-r border-line bg-sunken px-3 py-4 max-md:hidden">
      <PlainLink to="/" className="flex items-center gap-2.5 rounded-md px-2 font-semibold">
        <Mark className="size-6" />
        Agent Work Orders
      </PlainLink>
      <div className="flex flex-col gap-2">
        {mayOperate && (
          <ButtonLink to="/new" variant="primary">
            <Plus aria-hidden className="size-4" />
            New work order
          </ButtonLink>
        )}
        <button
          type="button"
          onClick={onPalette}
          className="flex h-8.5 cursor-pointer items-center gap-2 rounded-md border border-line bg-surface px-2.5 text-ink-faint hover:bg-hover"
        >
          <Search aria-hidden className="size-4" />
          <span className="flex-1 truncate text-left">Search or jump</span>
          <Kbd keys="mod+k" />
        </button>
      </div>
      <nav aria-label="Main" className="flex-1 overflow-y-auto">
        <ul className="flex flex-col gap-0.5">
          {NAV.map((item) => (
            <li key={item.to}>
              <PlainLink
                to={item.to}
                activeOptions={{ exact: item.to === "/" }}
                className="group flex h-8.5 items-center gap-2.5 rounded-md px-2 -outline-offset-2"
                activeProps={{
                  className: "bg-hover font-medium text-ink",
                  "aria-current": "page",
                }}
                inactiveProps={{ className: "text-ink-soft hover:bg-hover hover:text-ink" }}
              >
                <item.icon
                  aria-hidden
                  className="size-4 shrink-0 group-aria-[current=page]:text-accent"
                />
                <span className="flex-1">{item.label}</span>
                {item.counts && <Count value={counts[item.counts]} unit={item.unit ?? ""} />}
              </PlainLink>
            </li>
          ))}
        </ul>
      </nav>
      <div className="flex flex-col gap-2 border-t border-line pt-3">
        <LiveIndicator className="px-2" />
        <AccountMenu onShortcuts={onShortcuts} />
      </div>
    </header>
  );
}

/** A number that reads as one: "3 need you". Nothing when there is nothing. */
export function Count({
  value,
  unit,
  className,
}: {
  value: number;
  unit: string;
  className?: string;
}) {
  if (value === 0) return null;
  return (
    <span
      className={cx(
        "rounded-full bg-attention-wash px-1.5 text-xs leading-5 font-medium text-attention tabular-nums",
        className,
      )}
    >
      {shownCount(value)}
      <span className="sr-only"> {unit}</span>
    </span>
  );
}
