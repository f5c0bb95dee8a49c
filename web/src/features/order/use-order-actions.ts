import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { useSteer } from "@/api/orders";
import { useMay } from "@/api/roles";
import type { Order, Task } from "@/api/types";
import { toast } from "@/ui/toast";
import { allowedActions, type Action } from "./model";

const DONE = {
  pause: "Pausing after what is under way",
  resume: "The order goes on",
  retry: "Trying again",
  cancel: "Stopping the order",
  rollback: "Undoing what the order did",
} satisfies Record<Action, string>;

export interface OrderActions {
  /** Nothing can be done, and nothing begun from here, by somebody who may only look. */
  mayOperate: boolean;
  allowed: readonly Action[];
  busy: Action | null;
  /** Those that cannot be undone ask first. */
  ask: (action: Action) => void;
  run: (action: Action) => Promise<void>;
  asking: "cancel" | "rollback" | null;
  stopAsking: () => void;
  runAgain: () => void;
}

export function useOrderActions(order: Order, tasks: readonly Task[]): OrderActions {
  const steer = useSteer(order.agent_work_order_id);
  const navigate = useNavigate();
  const [asking, setAsking] = useState<OrderActions["asking"]>(null);
  const { allowed: mayOperate } = useMay("operate");
  const allowed = mayOperate ? allowedActions(order, tasks) : [];
  const busy = (["pause", "resume", "retry", "cancel", "rollback"] as const).find(
    (action) => steer[action].isPending,
  );

  const run = async (action: Action) => {
    await steer[action].mutateAsync();
    toast({ title: DONE[action] });
  };

  return {
    mayOperate,
    allowed,
    busy: busy ?? null,
    run,
    ask: (action) => {
      if (!allowed.includes(action) || busy) return;
      if (action === "cancel" || action === "rollback") setAsking(action);
      // The app says what went wrong, wherever it does.
      else void run(action).catch(() => undefined);
    },
    asking,
    stopAsking: () => setAsking(null),
    runAgain: () =>
      void navigate({
        to: "/new",
        search: { from: order.agent_work_order_id },
      }),
  };
}
