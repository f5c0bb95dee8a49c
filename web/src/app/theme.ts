import { useSyncExternalStore } from "react";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

// public/theme.js reads the same name before the first paint.
const NAME = "awo-theme";
const watchers = new Set<() => void>();
const systemDark = window.matchMedia("(prefers-color-scheme: dark)");

function stored(): Theme {
  try {
    const value = localStorage.getItem(NAME);
    return value === "light" || value === "dark" ? value : "system";
  } catch {
    return "system";
  }
}

let theme = stored();

function apply(): void {
  const dark = theme === "dark" || (theme === "system" && systemDark.matches);
  document.documentElement.dataset["theme"] = dark ? "dark" : "light";
}

export function setTheme(next: Theme): void {
  theme = next;
  try {
    if (next === "system") localStorage.removeItem(NAME);
    else localStorage.setItem(NAME, next);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
  apply();
  for (const watcher of watchers) watcher();
}

systemDark.addEventListener("change", apply);

// Another tab chose.
window.addEventListener("storage", (event) => {
  if (event.key !== NAME) return;
  theme = stored();
  apply();
  for (const watcher of watchers) watcher();
});

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

export function useTheme(): Theme {
  return useSyncExternalStore(watch, () => theme);
}
