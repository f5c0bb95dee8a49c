/** Changing what is cached of approvals, wherever it is cached. */

import type { QueryClient } from "@tanstack/react-query";

import { approvalKeys } from "./approval-keys";
import { patch } from "./patch";
import type { Approval } from "./types";

export function cachedApproval(queryClient: QueryClient, approvalId: string): Approval | undefined {
  const alone = queryClient.getQueryData<Approval>(approvalKeys.one(approvalId));
  if (alone !== undefined) return alone;
  const lists = queryClient.getQueriesData<Approval[] | Approval>({ queryKey: approvalKeys.all() });
  for (const [, data] of lists) {
    const found = Array.isArray(data) && data.find((one) => one.approval_id === approvalId);
    if (found) return found;
  }
  return undefined;
}

/** Shows an approval as it is now; the list of what is asked has only what is asked. */
export function putApproval(queryClient: QueryClient, approval: Approval): void {
  const { approval_id: id, agent_work_order_id: orderId } = approval;
  const same = (one: Approval) => one.approval_id === id;
  patch<Approval>(queryClient, approvalKeys.one(id), () => approval);
  patch<Approval[]>(queryClient, approvalKeys.ofOrder(orderId), (known) =>
    known.map((one) => (same(one) ? approval : one)),
  );
  patch<Approval[]>(queryClient, approvalKeys.asked(), (known) => {
    const others = known.filter((one) => !same(one));
    if (approval.state !== "asked") return others;
    return [...others, approval].sort((a, b) => a.asked_at.localeCompare(b.asked_at));
  });
}
