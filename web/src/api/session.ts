import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import { bodyOf, http } from "./client";
import { wakeLive } from "./live-store";

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

/** Signs in with a one-time link's token or an API key; the server sets the cookie. */
export function useSignIn() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async (how: SignIn) =>
      (await bodyOf(http.POST("/api/session", { body: how }))).session,
    onSuccess: (session) => {
      // Whatever was loaded may have been another person's.
      queryClient.clear();
      queryClient.setQueryData(sessionKeys.session(), session);
      wakeLive();
    },
  });
}

export function useSignOut() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: () => bodyOf(http.DELETE("/api/session")),
    onSuccess: () => queryClient.clear(),
  });
}

/** A link that signs another browser in as the same person, once. */
export function useSignInLink() {
  return useMutation({ mutationFn: () => bodyOf(http.POST("/api/session/links")) });
}
