import { useNavigate, useRouter } from "@tanstack/react-router";
import { useEffect } from "react";

import { useMay } from "@/api/roles";
import { NAV } from "@/app/nav";
import { listenForShortcuts, useAllShortcuts, useShortcuts } from "@/lib/shortcuts";
import { awaitsPalette, takeTypedAhead } from "./typed-ahead";
import { Dialog } from "@/ui/dialog";
import { Kbd } from "@/ui/kbd";

const SEARCH = '[data-shortcut="search"]';

interface Openers {
  onPalette: () => void;
  onShortcuts: () => void;
}

/** What works on every page. */
export function useGlobalShortcuts({ onPalette, onShortcuts }: Openers): void {
  const navigate = useNavigate();
  const router = useRouter();
  const { allowed: mayOperate } = useMay("operate");
  useShortcuts([
    ...NAV.map((item) => ({
      keys: item.keys,
      label: item.label,
      group: "Go to",
      run: () => void navigate({ to: item.to }),
    })),
    ...(mayOperate
      ? [
          {
            keys: "n",
            label: "New work order",
            group: "Everywhere",
            run: () => void navigate({ to: "/new" }),
          },
        ]
      : []),
    {
      keys: "/",
      label: "Search on this page",
      group: "Everywhere",
      run: () => {
        const field = document.querySelector<HTMLInputElement>(SEARCH);
        if (field) {
          field.focus();
          field.select();
        } else onPalette();
      },
    },
    {
      keys: "mod+k",
      label: "Search or jump",
      group: "Everywhere",
      whileTyping: true,
      run: onPalette,
    },
    { keys: "?", label: "Show the shortcuts", group: "Everywhere", run: onShortcuts },
  ]);

  // Outside system: the keyboard. What was typed for the palette is left to its field.
  useEffect(() => {
    const before = awaitsPalette() ? [] : takeTypedAhead();
    return listenForShortcuts(window, { before, isLoading: () => router.state.isLoading });
  }, [router]);
}

const GROUPS = ["Everywhere", "Go to", "This order", "This page"];

/** Everything that the keyboard can do now. */
export function ShortcutSheet({ onClose }: { onClose: () => void }) {
  const shortcuts = useAllShortcuts();
  const groups = GROUPS.map((name) => ({
    name,
    list: shortcuts.filter((one) => (one.group ?? "This page") === name),
  })).filter(({ list }) => list.length > 0);
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()} title="Keyboard shortcuts">
      <div className="grid gap-x-8 gap-y-5 sm:grid-cols-2">
        {groups.map(({ name, list }) => (
          <section key={name} aria-label={name}>
            <h3 className="mb-1 text-xs font-medium text-ink-faint">{name}</h3>
            <ul>
              {list.map((one) => (
                <li
                  key={one.keys}
                  className="flex min-h-8 items-center justify-between gap-4 border-b border-line last:border-0"
                >
                  <span className="min-w-0 break-words">{one.label}</span>
                  <Kbd keys={one.keys} />
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
