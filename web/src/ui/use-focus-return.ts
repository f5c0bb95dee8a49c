import { useState } from "react";

/** What has the focus; for an item of a menu, which goes with it, the button that opened the menu. */
function focused(): HTMLElement | null {
  const active = document.activeElement;
  const menu = active?.closest("[role=menu]");
  if (menu) return document.getElementById(menu.getAttribute("aria-labelledby") ?? "");
  return active instanceof HTMLElement && active !== document.body ? active : null;
}

/** For a layer that a shortcut may open: closing it gives the focus back to what had it, or to the
 * page's heading if that is gone. Without this it would be lost to the body, where no key is heard
 * and a screen reader begins anew. */
export function useFocusReturn(open: boolean): (event: Event) => void {
  const [seen, setSeen] = useState<{ open: boolean; from: HTMLElement | null }>({
    open: false,
    from: null,
  });
  if (seen.open !== open) setSeen({ open, from: open ? focused() : seen.from });
  return (event) => {
    event.preventDefault();
    const to = seen.from?.isConnected ? seen.from : document.querySelector<HTMLElement>("h1");
    to?.focus({ preventScroll: true });
  };
}
