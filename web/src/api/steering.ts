/** Changing orders. What will probably happen is shown at once and taken back if it is refused. */

import { useMutation, useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { approvalKeys } from "./approval-keys";
import { bodyOf, http } from "./client";
import { changeOrder, expectStatus, expectTaskState } from "./order-cache";
import { orderKeys } from "./order-keys";
import { isTransient } from "./problem";
import { statusKeys } from "./status";
import { Submission } from "./submission";
import type { NewOrder, Order, OrderStatus, OverrideRequest, TaskState } from "./types";

const ORDER = "/api/agent-work-orders/{agent_work_order_id}";
const AFTER_OVERRIDE = {
  skip: "skipped",
  succeed: "succeeded",
  retry: "pending",
} satisfies Record<OverrideRequest["action"], TaskState>;

export interface Override {
  path: string;
  action: OverrideRequest["action"];
  /** With `succeed`: the task's result. */
  outputs?: Record<string, unknown>;
}

const at = (id: string) => ({ params: { path: { agent_work_order_id: id } } });

/** Everything that a person can do to an order, each a mutation. `quiet`: the caller says what went
 * wrong. */
export function useSteer(id: string, { quiet = false }: { quiet?: boolean } = {}) {
  const prompt = useMutation({
    // Its error stands beside the text that was refused.
    meta: { quiet: true },
    mutationFn: (text: string) =>
      bodyOf(
        http.POST(`${ORDER}/prompt`, {
          ...at(id),
          body: { agent_work_order_id: id, prompt_text: text },
        }),
      ),
  });
  return {
    cancel: useVerb({ id, quiet }, () => http.POST(`${ORDER}/cancel`, at(id)), "cancelled"),
    pause: useVerb({ id, quiet }, () => http.POST(`${ORDER}/pause`, at(id)), "paused"),
    resume: useVerb({ id, quiet }, () => http.POST(`${ORDER}/resume`, at(id)), "running"),
    /** What failed, or with a task everything from there on. */
    retry: useVerb<{ task?: string } | void>(
      { id, quiet },
      (from) =>
        http.POST(`${ORDER}/retry`, { ...at(id), body: from?.task ? { task: from.task } : {} }),
      "running",
    ),
    rollback: useVerb({ id, quiet }, () => http.POST(`${ORDER}/rollback`, at(id))),
    /** The agent gets the text at its next turn. */
    prompt,
    override: useOverride(id),
  };
}

export type Steering = ReturnType<typeof useSteer>;

type Answer = Promise<{ data?: { agent_work_order: Order } }>;

interface About {
  id: string;
  quiet: boolean;
}

function useVerb<V = void>(
  { id, quiet }: About,
  send: (variables: V) => Answer,
  expected?: OrderStatus,
) {
  const queryClient = useQueryClient();
  return useMutation({
    meta: { quiet },
    mutationFn: async (variables: V) => (await bodyOf(send(variables))).agent_work_order,
    onMutate: async () => {
      await stopReading(queryClient, id);
      return { takeBack: expected && expectStatus(queryClient, id, expected) };
    },
    onError: (_error, _variables, context) => context?.takeBack?.(),
    onSuccess: (order) => learn(queryClient, order),
    onSettled: () => readAgain(queryClient, id),
  });
}

function useOverride(id: string) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async ({ path, action, outputs }: Override) => {
      const params = { path: { agent_work_order_id: id, path } };
      const answer = http.POST(`${ORDER}/tasks/{path}/override`, {
        params,
        body: { action, ...(outputs && { outputs }) },
      });
      return (await bodyOf(answer)).agent_work_order;
    },
    onMutate: async ({ path, action }) => {
      await stopReading(queryClient, id);
      return { takeBack: expectTaskState(queryClient, id, path, AFTER_OVERRIDE[action]) };
    },
    onError: (_error, _variables, context) => context?.takeBack(),
    onSuccess: (order) => learn(queryClient, order),
    onSettled: () => readAgain(queryClient, id),
  });
}

/** Creates an order. The same order sent again, by itself or by hand, is created once. */
export function useCreateOrder() {
  const queryClient = useQueryClient();
  const [submission] = useState(() => new Submission());
  return useMutation({
    // Its error stands in the form, beside the field if it names one.
    meta: { quiet: true },
    mutationFn: async (order: NewOrder) => {
      const header = { "Idempotency-Key": submission.keyFor(order) };
      const answer = http.POST("/api/agent-work-orders", { params: { header }, body: order });
      return (await bodyOf(answer)).agent_work_order;
    },
    retry: (failures, error) => failures < 2 && isTransient(error),
    onSuccess: (order) => {
      submission.done();
      queryClient.setQueryData<Order>(orderKeys.detail(order.agent_work_order_id), order);
      void queryClient.invalidateQueries({ queryKey: orderKeys.lists() });
      void queryClient.invalidateQueries({ queryKey: statusKeys.status() });
    },
  });
}

/** An answer on its way would undo what is shown in advance. */
async function stopReading(queryClient: QueryClient, id: string): Promise<void> {
  await Promise.all([
    queryClient.cancelQueries({ queryKey: orderKeys.detail(id) }),
    queryClient.cancelQueries({ queryKey: orderKeys.tasks(id) }),
    queryClient.cancelQueries({ queryKey: orderKeys.lists() }),
  ]);
}

function learn(queryClient: QueryClient, order: Order): void {
  const id = order.agent_work_order_id;
  changeOrder(queryClient, id, (known) =>
    known.updated_at > order.updated_at ? known : { ...known, ...summaryOf(order) },
  );
}

/** Lists have no numbers from git. */
function summaryOf(order: Order): Partial<Order> {
  const {
    git_commit_count: _c,
    git_files_changed: _f,
    git_lines_added: _a,
    git_lines_removed: _r,
    ...rest
  } = order;
  return rest;
}

function readAgain(queryClient: QueryClient, id: string): void {
  for (const queryKey of [
    orderKeys.detail(id),
    orderKeys.tasks(id),
    orderKeys.lists(),
    approvalKeys.all(),
    statusKeys.status(),
  ]) {
    void queryClient.invalidateQueries({ queryKey });
  }
}
