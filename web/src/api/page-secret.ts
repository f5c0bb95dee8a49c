/** The secret that proves to the server that its own page asks.
 *
 * Browsers send the session's cookie to every server of this host name, whatever its port; what a
 * page stores they keep apart by port. So the cookie alone opens nothing. */

export const PAGE_HEADER = "X-AWO-Page";
const NAME = "awo.page-secret";

/** For browsers that store nothing: good until the page is left. */
let unstored: string | null = null;

export function pageSecret(): string | null {
  try {
    return window.localStorage.getItem(NAME) ?? unstored;
  } catch {
    return unstored;
  }
}

/** All tabs of this origin have it from now on. */
export function keepPageSecret(secret: string): void {
  unstored = secret;
  try {
    window.localStorage.setItem(NAME, secret);
  } catch {
    // This page has it, and signs in anew when it is loaded again.
  }
}

export function forgetPageSecret(): void {
  unstored = null;
  try {
    window.localStorage.removeItem(NAME);
  } catch {
    // It was never stored.
  }
}

/** The headers of a request that does not go through the typed client. */
export function pageHeaders(): Record<string, string> {
  const secret = pageSecret();
  return secret === null ? {} : { [PAGE_HEADER]: secret };
}

/** Calls back when another tab has signed in, until the returned function is called. */
export function onSignedInElsewhere(listener: () => void): () => void {
  const hear = (event: StorageEvent) => {
    if (event.key === NAME && event.newValue !== null) listener();
  };
  window.addEventListener("storage", hear);
  return () => window.removeEventListener("storage", hear);
}
