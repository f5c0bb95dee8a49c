import { useQueries, useQuery } from "@tanstack/react-query";

import { approvalsQuery } from "@/api/approvals";
import { orderPageQuery } from "@/api/orders";
import type { OrderPage } from "@/api/types";
import { useNow } from "@/lib/use-now";
import { isFirstRun, LISTS, sections, type ListName, type Lists, type Section } from "./model";

export type InboxState =
  | { is: "loading" }
  | { is: "failed"; error: Error; retrying: boolean; retry: () => void }
  | { is: "first-run" }
  | { is: "ready"; sections: Section[] };

const NAMES = Object.keys(LISTS) as ListName[];

/** The newest orders of each kind and what is asked; events keep them fresh. */
export function useInbox(): InboxState {
  const now = useNow();
  const asked = useQuery(approvalsQuery());
  const pages = useQueries({ queries: NAMES.map((name) => orderPageQuery(LISTS[name], 0)) });
  const all = [asked, ...pages];
  const broken = all.find((one) => one.error !== null && one.data === undefined);
  if (broken?.error) {
    return {
      is: "failed",
      error: broken.error,
      retrying: all.some((one) => one.isFetching),
      retry: () => {
        for (const one of all) if (one.data === undefined) void one.refetch();
      },
    };
  }
  const lists = gathered(pages.map((page) => page.data));
  if (lists === null || asked.data === undefined) return { is: "loading" };
  if (isFirstRun(lists) && asked.data.length === 0) return { is: "first-run" };
  return { is: "ready", sections: sections(lists, asked.data, now) };
}

function gathered(pages: readonly (OrderPage | undefined)[]): Lists | null {
  const found: Partial<Lists> = {};
  for (const [index, name] of NAMES.entries()) {
    const page = pages[index];
    if (page === undefined) return null;
    found[name] = page;
  }
  return found as Lists;
}
