/** Where to go after signing in: only to a page of this dashboard, never to another site. */
export function returnPath(from: string | undefined, origin: string): string {
  if (from === undefined || !from.startsWith("/")) return "/";
  try {
    // Browsers read `//host`, `/\host` and a tab inside as another site: let one of them decide.
    const url = new URL(from, origin);
    if (url.origin !== new URL(origin).origin || /^\/[/\\]/.test(from)) return "/";
    if (url.pathname.startsWith("//") || url.pathname === "/sign-in") return "/";
    return `${url.pathname}${url.search}${url.hash}`;
  } catch {
    return "/";
  }
}

/** The one-time token of a link, from the part of the address that no server ever sees. */
export function tokenOf(hash: string): string | null {
  const token = hash.replace(/^#/, "");
  return /^[A-Za-z0-9_.~-]{8,512}$/.test(token) ? token : null;
}
