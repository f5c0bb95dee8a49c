import { Plus, Search } from "lucide-react";

import { useMay } from "@/api/roles";
import { AccountMenu } from "@/app/account-menu";
import { LiveIndicator } from "@/app/live-indicator";
import { Mark } from "@/app/mark";
import { NAV } from "@/app/nav";
import { Count, type BarProps } from "@/app/sidebar";
import { IconButton } from "@/ui/icon-button";
import { ButtonLink, PlainLink } from "@/ui/link";

/** For phones: what is at the top. */
export function TopBar({ onPalette, onShortcuts }: Omit<BarProps, "counts">) {
  const { allowed: mayOperate } = useMay("operate");
  return (
    <header className="sticky top-0 z-20 flex h-12 items-center gap-1 border-b border-line bg-sunken px-3 md:hidden">
      <PlainLink to="/" aria-label="Agent Work Orders, inbox" className="rounded-md p-0.5">
        <Mark className="size-6" />
      </PlainLink>
      <LiveIndicator className="ml-2 flex-1" />
      <IconButton label="Search or jump" icon={Search} onClick={onPalette} />
      {mayOperate && (
        <ButtonLink to="/new" variant="primary" size="sm" aria-label="New work order">
          <Plus aria-hidden className="size-4" />
          New
        </ButtonLink>
      )}
      <div className="ml-1 shrink-0">
        <AccountMenu compact onShortcuts={onShortcuts} />
      </div>
    </header>
  );
}

/** For phones: where a thumb reaches. */
export function BottomBar({ counts }: Pick<BarProps, "counts">) {
  return (
    <nav
      aria-label="Main"
      className="fixed inset-x-0 bottom-0 z-20 border-t border-line bg-sunken pb-[env(safe-area-inset-bottom)] md:hidden"
    >
      <ul className="flex">
        {NAV.map((item) => (
          <li key={item.to} className="min-w-0 flex-1">
            <PlainLink
              to={item.to}
              activeOptions={{ exact: item.to === "/" }}
              className="relative flex h-14 flex-col items-center justify-center gap-0.5 text-[11px] -outline-offset-2"
              activeProps={{ className: "font-semibold text-accent", "aria-current": "page" }}
              inactiveProps={{ className: "text-ink-soft" }}
            >
              <item.icon aria-hidden className="size-5" />
              {item.short}
              {item.counts && (
                <Count
                  value={counts[item.counts]}
                  unit={item.unit ?? ""}
                  className="absolute top-1 left-1/2 ml-2 min-w-4 px-1 text-center text-[10px] leading-4"
                />
              )}
            </PlainLink>
          </li>
        ))}
      </ul>
    </nav>
  );
}
