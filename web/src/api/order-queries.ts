/** Work orders: everything there is to read of them. Live events keep it fresh, so nothing here
 * grows stale by itself. */

import { infiniteQueryOptions, queryOptions, type InfiniteData } from "@tanstack/react-query";

import { bodyOf, http } from "./client";
import {
  LOG_PAGE_SIZE,
  PAGE_SIZE,
  cleanFilter,
  cleanLogFilter,
  orderKeys,
  type LogFilter,
  type OrderFilter,
} from "./order-keys";
import type { CommitDiff, Diff, Task, TranscriptEntry, TranscriptPage } from "./types";

const ORDERS = "/api/agent-work-orders";
const ORDER = "/api/agent-work-orders/{agent_work_order_id}";
/** Events say when to look again. */
const LIVE = { staleTime: Infinity } as const;

const at = (id: string) => ({ path: { agent_work_order_id: id } });

/** One page of the list, newest first. Pages can be loaded in any order. */
export function orderPageQuery(filter: OrderFilter, page: number, size: number = PAGE_SIZE) {
  const query = { ...cleanFilter(filter), limit: size, offset: page * size };
  return queryOptions({
    ...LIVE,
    queryKey: orderKeys.page(filter, page, size),
    queryFn: ({ signal }) =>
      bodyOf(
        http.GET(ORDERS, {
          params: { query: { ...query, status: query.status && [...query.status] } },
          signal,
        }),
      ),
  });
}

export function orderQuery(id: string) {
  return queryOptions({
    ...LIVE,
    queryKey: orderKeys.detail(id),
    queryFn: async ({ signal }) =>
      (await bodyOf(http.GET(ORDER, { params: at(id), signal }))).agent_work_order,
  });
}

/** Every task in reading order. */
export function tasksQuery(id: string) {
  return queryOptions({
    ...LIVE,
    queryKey: orderKeys.tasks(id),
    queryFn: async ({ signal }) =>
      (await bodyOf(http.GET(`${ORDER}/tasks`, { params: at(id), signal }))).tasks as Task[],
  });
}

/** Numbers from git, the latest commit and the history of phases. */
export function gitProgressQuery(id: string) {
  return queryOptions({
    ...LIVE,
    queryKey: orderKeys.git(id),
    queryFn: ({ signal }) => bodyOf(http.GET(`${ORDER}/git-progress`, { params: at(id), signal })),
  });
}

/** The order's commits, newest first. */
export function commitsQuery(id: string) {
  return queryOptions({
    ...LIVE,
    queryKey: orderKeys.commits(id),
    queryFn: ({ signal }) =>
      bodyOf(
        http.GET(`${ORDER}/commits`, { params: { ...at(id), query: { limit: 500 } }, signal }),
      ),
  });
}

/** What one commit changed; a commit never changes itself. */
export function commitDiffQuery(id: string, sha: string) {
  return queryOptions({
    ...LIVE,
    queryKey: orderKeys.commitDiff(id, sha),
    queryFn: async ({ signal }) =>
      (await bodyOf(
        http.GET(`${ORDER}/commits/{sha}/diff`, {
          params: { path: { agent_work_order_id: id, sha } },
          headers: { Accept: "application/json" },
          signal,
        }),
      )) as CommitDiff,
  });
}

/** All that the order has changed so far, or had with one of its commits. */
export function diffQuery(id: string, head: string | null = null) {
  return queryOptions({
    ...LIVE,
    queryKey: head === null ? orderKeys.diff(id) : orderKeys.diffAt(id, head),
    queryFn: async ({ signal }) =>
      (await bodyOf(
        http.GET(`${ORDER}/diff`, {
          params: { ...at(id), query: { head } },
          headers: { Accept: "application/json" },
          signal,
        }),
      )) as Diff,
  });
}

/** What was offered for review of a repository without a forge; null until there is something. */
export function reviewQuery(id: string) {
  return queryOptions({
    ...LIVE,
    queryKey: orderKeys.review(id),
    queryFn: async ({ signal }) =>
      (await bodyOf(http.GET(`${ORDER}/review`, { params: at(id), signal }))).review,
  });
}

/** What an agent said and did, by cursor. `task` null means the latest. */
export function transcriptQuery(id: string, task: string | null) {
  const queryKey = orderKeys.transcript(id, task);
  return infiniteQueryOptions({
    ...LIVE,
    queryKey,
    initialPageParam: 0,
    queryFn: async ({ pageParam, signal, client }) => {
      // A transcript only grows: a page that is full is never read again.
      const known = task === null ? undefined : knownPage(client.getQueryData(queryKey), pageParam);
      if (known?.has_more) return known;
      const query = { after: pageParam, limit: 500, ...(task !== null && { task }) };
      const params = { ...at(id), query };
      return bodyOf(http.GET(`${ORDER}/transcript`, { params, signal }));
    },
    getNextPageParam: (last: TranscriptPage) => (last.has_more ? last.next_after : undefined),
  });
}

type Transcript = InfiniteData<TranscriptPage, number>;

function knownPage(data: unknown, pageParam: number): TranscriptPage | undefined {
  const transcript = data as Transcript | undefined;
  return transcript?.pages[transcript.pageParams.indexOf(pageParam)];
}

/** The entries of all loaded pages in one list. */
export function transcriptEntries(data: Pick<Transcript, "pages"> | undefined): TranscriptEntry[] {
  return data?.pages.flatMap((page) => page.entries) ?? [];
}

/** One page of an order's log, oldest first. */
export function logPageQuery(id: string, filter: LogFilter, page: number) {
  const query = { ...cleanLogFilter(filter), limit: LOG_PAGE_SIZE, offset: page * LOG_PAGE_SIZE };
  return queryOptions({
    ...LIVE,
    queryKey: orderKeys.logPage(id, filter, page),
    queryFn: ({ signal }) =>
      bodyOf(http.GET(`${ORDER}/logs`, { params: { ...at(id), query }, signal })),
  });
}

export function artifactsQuery(id: string) {
  return queryOptions({
    ...LIVE,
    queryKey: orderKeys.artifacts(id),
    queryFn: async ({ signal }) =>
      (await bodyOf(http.GET(`${ORDER}/artifacts`, { params: at(id), signal }))).artifacts,
  });
}

/** An artifact's content as text. Addressed by its hash, so it never changes. */
export function artifactTextQuery(id: string, sha: string) {
  return queryOptions({
    ...LIVE,
    queryKey: orderKeys.artifactText(id, sha),
    queryFn: async ({ signal }) => {
      const path = { agent_work_order_id: id, sha256: sha };
      const answer = await http.GET(`${ORDER}/artifacts/{sha256}`, {
        params: { path },
        parseAs: "text",
        signal,
      });
      return String(answer.data ?? "");
    },
  });
}
