import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import type { Decision } from "@/lib/decision";

import { cachedApproval, putApproval } from "./approval-cache";
import { approvalKeys } from "./approval-keys";
import { bodyOf, http } from "./client";
import { orderKeys } from "./order-keys";
import { statusKeys } from "./status";
import type { Approval } from "./types";

export { approvalKeys } from "./approval-keys";

const LIVE = { staleTime: Infinity } as const;
const APPROVAL = "/api/approvals/{approval_id}";

/** What people are asked now, oldest first. */
export function approvalsQuery() {
  return queryOptions({
    ...LIVE,
    queryKey: approvalKeys.asked(),
    queryFn: async ({ signal }) =>
      (await bodyOf(http.GET("/api/approvals", { params: { query: { limit: 500 } }, signal })))
        .approvals,
  });
}

/** All that was asked for one order, with the answers. */
export function orderApprovalsQuery(orderId: string) {
  return queryOptions({
    ...LIVE,
    queryKey: approvalKeys.ofOrder(orderId),
    queryFn: async ({ signal }) => {
      const params = { path: { agent_work_order_id: orderId } };
      const path = "/api/agent-work-orders/{agent_work_order_id}/approvals";
      return (await bodyOf(http.GET(path, { params, signal }))).approvals;
    },
  });
}

export function approvalQuery(approvalId: string) {
  return queryOptions({
    ...LIVE,
    queryKey: approvalKeys.one(approvalId),
    queryFn: async ({ signal }) => {
      const params = { path: { approval_id: approvalId } };
      return (await bodyOf(http.GET(APPROVAL, { params, signal }))).approval;
    },
  });
}

export interface Answer {
  /** As it was shown: a decision about anything else is refused. */
  approval: Approval;
  decision: Decision;
  comment?: string;
}

/** Approves or rejects exactly what was shown. */
export function useDecide() {
  const queryClient = useQueryClient();
  return useMutation({
    // Its error stands below the question.
    meta: { quiet: true },
    mutationFn: async ({ approval, decision, comment }: Answer) => {
      const params = { path: { approval_id: approval.approval_id } };
      const body = { comment: comment ?? "", subject_hash: approval.subject_hash };
      const answer = await bodyOf(http.POST(`${APPROVAL}/${decision}`, { params, body }));
      return answer.approval;
    },
    onMutate: async ({ approval, decision }) => {
      await queryClient.cancelQueries({ queryKey: approvalKeys.all() });
      const state = decision === "approve" ? "approved" : "rejected";
      putApproval(queryClient, { ...approval, state });
    },
    onError: (_error, { approval }) => {
      const now = cachedApproval(queryClient, approval.approval_id);
      // With a time of decision it is the server's word, maybe about another's answer.
      if (now === undefined || now.decided_at === null) putApproval(queryClient, approval);
    },
    onSuccess: (approval) => putApproval(queryClient, approval),
    onSettled: (_answer, _error, { approval }) => {
      const id = approval.agent_work_order_id;
      for (const queryKey of [
        approvalKeys.all(),
        orderKeys.detail(id),
        orderKeys.tasks(id),
        statusKeys.status(),
      ]) {
        void queryClient.invalidateQueries({ queryKey });
      }
    },
  });
}
