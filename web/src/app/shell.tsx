import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Outlet } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { flushSync } from "react-dom";

import { startLive } from "@/api/live/live";
import { sessionQuery } from "@/api/session";
import { useNavCounts } from "@/app/nav";
import { OutageNotice } from "@/app/outage-notice";
import { PageProgress } from "@/app/page-progress";
import { Palette } from "@/app/palette";
import { BottomBar, TopBar } from "@/app/phone-bars";
import { ShortcutSheet, useGlobalShortcuts } from "@/app/shortcuts";
import { Sidebar } from "@/app/sidebar";
import { awaitsPalette } from "./typed-ahead";

/** Navigation around every page, and what works on all of them. */
export function Shell() {
  const queryClient = useQueryClient();
  const signedIn = useQuery(sessionQuery()).data !== undefined;
  const counts = useNavCounts();
  const [open, setOpen] = useState<"palette" | "shortcuts" | null>(() =>
    awaitsPalette() ? "palette" : null,
  );
  useGlobalShortcuts({
    // At once: the next key is for its field.
    onPalette: () => flushSync(() => setOpen((now) => (now === "palette" ? null : "palette"))),
    onShortcuts: () => setOpen("shortcuts"),
  });

  // Outside system: the keyboard. Until the palette's field takes them, its keys are kept.
  useEffect(() => {
    if (awaitsPalette()) queueMicrotask(() => setOpen("palette"));
  }, []);

  // Outside system: the server's stream of events, while somebody is signed in.
  useEffect(() => (signedIn ? startLive(queryClient) : undefined), [signedIn, queryClient]);

  const bar = {
    counts,
    onPalette: () => setOpen("palette"),
    onShortcuts: () => setOpen("shortcuts"),
  };
  return (
    <div className="flex min-h-dvh max-md:flex-col">
      <a
        href="#main"
        className="fixed top-2 left-2 z-50 -translate-y-16 rounded-md bg-accent px-3 py-2 font-medium text-accent-ink focus:translate-y-0"
      >
        Skip to the content
      </a>
      <PageProgress />
      <Sidebar {...bar} />
      <TopBar {...bar} />
      <main
        id="main"
        tabIndex={-1}
        className="min-w-0 flex-1 px-4 pt-5 pb-24 outline-none sm:px-6 md:pb-10 lg:px-8"
      >
        <div className="mx-auto max-w-350">
          <OutageNotice />
          <Outlet />
        </div>
      </main>
      <BottomBar counts={counts} />
      {open === "palette" && (
        <Palette onClose={() => setOpen(null)} onShortcuts={() => setOpen("shortcuts")} />
      )}
      {open === "shortcuts" && <ShortcutSheet onClose={() => setOpen(null)} />}
    </div>
  );
}
