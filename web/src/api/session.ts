import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";

import { bodyOf, http } from "./client";
import { wakeLive } from "./live/store";
import { forgetPageSecret, keepPageSecret, onSignedInElsewhere } from "./page-secret";

export const sessionKeys = { session: () => ["session"] as const };

/** Who is signed in; a Problem with status 401 when nobody is. */
export function sessionQuery() {
  return queryOptions({
    queryKey: sessionKeys.session(),
    staleTime: 5 * 60_000,
    retry: false,
    queryFn: async ({ signal }) => (await bodyOf(http.GET("/api/session", { signal }))).session,
  });
}

export type SignIn = { token: string } | { key: string };

/** Signs in with a one-time link's token or an API key; the server sets the cookie, and the page
 * keeps what proves that it is ours. */
export function useSignIn() {
  const queryClient = useQueryClient();
  return useMutation({
    // Its error stands above the form.
    meta: { quiet: true },
    mutationFn: async (how: SignIn) => {
      const signedIn = await bodyOf(http.POST("/api/session", { body: how }));
      keepPageSecret(signedIn.page_secret);
      return signedIn.session;
    },
    onSuccess: (session) => {
      // Whatever was loaded may have been another person's.
      queryClient.clear();
      queryClient.setQueryData(sessionKeys.session(), session);
      wakeLive();
    },
  });
}

/** Who signs in in another tab is signed in here as well. */
export function useSignedInElsewhere(then: () => void): void {
  const queryClient = useQueryClient();
  // Outside system: what the browser's tabs share.
  useEffect(() =>
    onSignedInElsewhere(() => {
      queryClient.clear();
      wakeLive();
      then();
    }),
  );
}

export function useSignOut() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: () => bodyOf(http.DELETE("/api/session")),
    onSuccess: () => {
      forgetPageSecret();
      queryClient.clear();
    },
  });
}

/** A link that signs another browser in as the same person, once. */
export function useSignInLink() {
  return useMutation({ mutationFn: () => bodyOf(http.POST("/api/session/links")) });
}
