import { Check, RotateCcw, SkipForward, type LucideIcon } from "lucide-react";
import { useState } from "react";

import { useSteer } from "@/api/orders";
import { useMay } from "@/api/roles";
import type { Order, Task } from "@/api/types";
import { clean, truncate } from "@/lib/text";
import { Button } from "@/ui/button";
import { ConfirmDialog } from "@/ui/confirm-dialog";
import { Field } from "@/ui/field";
import { TextArea } from "@/ui/text-input";
import { toast } from "@/ui/toast";
import { isOver, parseOutputs, taskActions, type TaskAction } from "./model";

interface Wording {
  label: string;
  icon: LucideIcon;
  title: (name: string) => string;
  description: string;
  done: string;
}

const WORDING = {
  retry: {
    label: "Retry from here",
    icon: RotateCcw,
    title: (name) => `Retry from ${name}?`,
    description: "This task and everything that depends on it is done again.",
    done: "Trying again from that task",
  },
  restart: {
    label: "Start again",
    icon: RotateCcw,
    title: (name) => `Stop ${name} and start it again?`,
    description: "What it is doing now is given up, and it begins anew.",
    done: "The task begins anew",
  },
  skip: {
    label: "Skip",
    icon: SkipForward,
    title: (name) => `Skip ${name}?`,
    description:
      "It is not done. What needs it and cannot go without it is skipped too; the rest goes on.",
    done: "The task is skipped",
  },
  succeed: {
    label: "Call it done",
    icon: Check,
    title: (name) => `Call ${name} done?`,
    description: "The order goes on as if it had succeeded with the outputs that you give.",
    done: "The task counts as done",
  },
} satisfies Record<TaskAction, Wording>;

export interface TaskDecisionsProps {
  order: Order;
  task: Task;
}

/** A person decides about one task. Each asks first: it changes what the order will do. */
export function TaskDecisions({ order, task }: TaskDecisionsProps) {
  const { allowed: mayOperate } = useMay("operate");
  const { retry, override } = useSteer(order.agent_work_order_id);
  const [asking, setAsking] = useState<TaskAction | null>(null);
  const [outputs, setOutputs] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const allowed = mayOperate ? taskActions(order, task) : [];
  if (allowed.length === 0) return null;
  const name = truncate(clean(task.path), 80);
  const words = WORDING[asking ?? "retry"];

  const ask = (action: TaskAction) => {
    setOutputs("");
    setProblem(null);
    setAsking(action);
  };
  const decide = async (action: TaskAction) => {
    const given = parseOutputs(outputs);
    if (action === "succeed" && "problem" in given) {
      setProblem(given.problem);
      throw new Error(given.problem);
    }
    if (action === "retry") await retry.mutateAsync({ task: task.path });
    else {
      await override.mutateAsync({
        path: task.path,
        action: action === "restart" ? "retry" : action,
        ...(action === "succeed" && "value" in given && { outputs: given.value }),
      });
    }
    toast({ title: WORDING[action].done });
  };
  return (
    <div>
      <p className="mb-1.5 text-[13px] font-medium">Decide about this task</p>
      <div className="flex flex-wrap gap-2">
        {allowed.map((action) => (
          <Button key={action} size="sm" icon={WORDING[action].icon} onClick={() => ask(action)}>
            {WORDING[action].label}
          </Button>
        ))}
      </div>
      <ConfirmDialog
        open={asking !== null}
        onOpenChange={(open) => !open && setAsking(null)}
        title={words.title(name)}
        description={
          words.description + (isOver(order) ? " The order, which has ended, is opened again." : "")
        }
        confirmLabel={words.label}
        onConfirm={() => (asking ? decide(asking) : undefined)}
      >
        {asking === "succeed" && (
          <Field
            label="Outputs"
            hint="JSON, with what later tasks read from it. Empty means none."
            error={problem}
          >
            <TextArea
              mono
              rows={5}
              value={outputs}
              placeholder={'{"passed": true}'}
              onChange={(event) => {
                setOutputs(event.target.value);
                setProblem(null);
              }}
            />
          </Field>
        )}
      </ConfirmDialog>
    </div>
  );
}
