import { queryOptions, useMutation } from "@tanstack/react-query";

import { bodyOf, http } from "./client";

const MINUTE_MS = 60_000;

export const workflowKeys = {
  all: () => ["workflows"] as const,
  list: () => ["workflows", "list"] as const,
  one: (name: string) => ["workflows", "one", name] as const,
  versions: (name: string) => ["workflows", "versions", name] as const,
};

export function workflowsQuery() {
  return queryOptions({
    queryKey: workflowKeys.list(),
    staleTime: MINUTE_MS,
    queryFn: async ({ signal }) => (await bodyOf(http.GET("/api/workflows", { signal }))).workflows,
  });
}

/** By name or alias, with source and tasks. */
export function workflowQuery(name: string) {
  return queryOptions({
    queryKey: workflowKeys.one(name),
    staleTime: MINUTE_MS,
    queryFn: async ({ signal }) =>
      (await bodyOf(http.GET("/api/workflows/{name}", { params: { path: { name } }, signal })))
        .workflow,
  });
}

/** The versions that orders ran with, newest first. */
export function workflowVersionsQuery(name: string) {
  return queryOptions({
    queryKey: workflowKeys.versions(name),
    staleTime: MINUTE_MS,
    queryFn: async ({ signal }) =>
      (
        await bodyOf(
          http.GET("/api/workflows/{name}/versions", { params: { path: { name } }, signal }),
        )
      ).versions,
  });
}

/** Checks a workflow's source without keeping it. */
export function useValidateWorkflow() {
  return useMutation({
    mutationFn: (source: string) =>
      bodyOf(http.POST("/api/workflows/validate", { body: { source } })),
  });
}
