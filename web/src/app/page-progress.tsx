import { useRouterState } from "@tanstack/react-router";

/** While the next page is on its way and this one still stands. Shown only when that takes a while. */
export function PageProgress() {
  const isLoading = useRouterState({ select: (state) => state.isLoading });
  if (!isLoading) return null;
  return (
    <div
      role="progressbar"
      aria-label="Loading the page"
      className="fixed inset-x-0 top-0 z-50 animate-late border-t-2 border-accent"
    />
  );
}
