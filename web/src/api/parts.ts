import { queryOptions, useMutation } from "@tanstack/react-query";

import { bodyOf, http } from "./client";

const MINUTE_MS = 60_000;

export const partKeys = {
  agents: () => ["parts", "agents"] as const,
  sandboxTypes: () => ["parts", "sandbox-types"] as const,
  tools: () => ["parts", "tools"] as const,
  commands: (repository: string | null) => ["parts", "commands", repository] as const,
};

export function agentsQuery() {
  return queryOptions({
    queryKey: partKeys.agents(),
    staleTime: MINUTE_MS,
    queryFn: async ({ signal }) =>
      (await bodyOf(http.GET("/api/available-agents", { signal }))).agents,
  });
}

export function sandboxTypesQuery() {
  return queryOptions({
    queryKey: partKeys.sandboxTypes(),
    staleTime: MINUTE_MS,
    queryFn: async ({ signal }) =>
      (await bodyOf(http.GET("/api/sandbox-types", { signal }))).sandbox_types,
  });
}

export function toolsQuery() {
  return queryOptions({
    queryKey: partKeys.tools(),
    staleTime: MINUTE_MS,
    queryFn: async ({ signal }) => (await bodyOf(http.GET("/api/tools", { signal }))).tools,
  });
}

/** The `/name` commands of prompts: the built-in ones, and those of a repository. */
export function commandsQuery(repository: string | null) {
  return queryOptions({
    queryKey: partKeys.commands(repository),
    staleTime: MINUTE_MS,
    queryFn: async ({ signal }) => {
      const params = { query: repository === null ? {} : { repository } };
      return (await bodyOf(http.GET("/api/commands", { params, signal }))).commands;
    },
  });
}

/** Whether the server can read a repository. A "no" is an answer, not an error: see
 * `verification_success`. */
export function useVerifyRepository() {
  return useMutation({
    // Its error stands below the field.
    meta: { quiet: true },
    mutationFn: (repositoryUrl: string) =>
      bodyOf(
        http.POST("/api/github/verify-repository", { body: { repository_url: repositoryUrl } }),
      ),
  });
}
