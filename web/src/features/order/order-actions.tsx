import { useQuery } from "@tanstack/react-query";
import { Ban, Copy, Ellipsis, Pause, Play, RotateCcw, Undo2, type LucideIcon } from "lucide-react";
import { useRef } from "react";

import { toolsQuery } from "@/api/parts";
import type { Task } from "@/api/types";
import { useShortcuts, type PageShortcut } from "@/lib/shortcuts";
import { Button } from "@/ui/button";
import { ConfirmDialog } from "@/ui/confirm-dialog";
import { IconButton } from "@/ui/icon-button";
import { Menu, MenuItem, MenuSeparator } from "@/ui/menu";
import { SafeText } from "@/ui/safe-text";
import { undoSteps, type Action } from "./model";
import type { OrderActions } from "./use-order-actions";

const LOOK = {
  pause: { label: "Pause", icon: Pause },
  resume: { label: "Resume", icon: Play },
  retry: { label: "Retry", icon: RotateCcw },
  cancel: { label: "Cancel", icon: Ban },
  rollback: { label: "Roll back", icon: Undo2 },
} satisfies Record<Action, { label: string; icon: LucideIcon }>;

export interface ActionBarProps {
  actions: OrderActions;
  tasks: readonly Task[];
}

/** What can be done now: the likely ones as buttons, the others in a menu (`.`). */
export function OrderActionBar({ actions, tasks }: ActionBarProps) {
  const more = useRef<HTMLButtonElement>(null);
  const { allowed, ask } = actions;
  const shown = (["resume", "retry", "pause", "cancel"] as const).filter((one) =>
    allowed.includes(one),
  );
  const [first] = shown;

  const shortcuts: PageShortcut[] = [
    { keys: "r", label: "Retry what failed", group: "This order", run: () => ask("retry") },
    {
      keys: "p",
      label: "Pause or resume",
      group: "This order",
      run: () => ask(allowed.includes("resume") ? "resume" : "pause"),
    },
    { keys: "x", label: "Cancel the order", group: "This order", run: () => ask("cancel") },
    {
      keys: ".",
      label: "All actions",
      group: "This order",
      // A menu opens by keys, so that the focus lands inside it.
      run: () => {
        more.current?.focus();
        more.current?.dispatchEvent(
          new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true }),
        );
      },
    },
  ];
  useShortcuts(actions.mayOperate ? shortcuts : []);
  if (!actions.mayOperate) return null;

  return (
    <>
      {shown.map((action) => (
        <Button
          key={action}
          icon={LOOK[action].icon}
          variant={
            action === first && action !== "cancel" && action !== "pause" ? "primary" : "secondary"
          }
          busy={actions.busy === action}
          onClick={() => ask(action)}
        >
          {LOOK[action].label}
        </Button>
      ))}
      <Menu
        trigger={<IconButton ref={more} label="More actions" icon={Ellipsis} variant="secondary" />}
      >
        <MenuItem icon={Copy} onSelect={actions.runAgain}>
          Run again as a new order…
        </MenuItem>
        {allowed.length > 0 && <MenuSeparator />}
        {allowed.map((action) => (
          <MenuItem
            key={action}
            icon={LOOK[action].icon}
            danger={action === "cancel" || action === "rollback"}
            onSelect={() => ask(action)}
          >
            {LOOK[action].label}
            {(action === "cancel" || action === "rollback") && "…"}
          </MenuItem>
        ))}
      </Menu>
      <Questions actions={actions} tasks={tasks} />
    </>
  );
}

function Questions({ actions, tasks }: { actions: OrderActions; tasks: readonly Task[] }) {
  const { asking, stopAsking, run } = actions;
  return (
    <>
      <ConfirmDialog
        open={asking === "cancel"}
        onOpenChange={(open) => !open && stopAsking()}
        title="Cancel this order?"
        description="What is under way is stopped within seconds. Everything that was committed stays, and you can retry the order later."
        confirmLabel="Cancel the order"
        cancelLabel="Let it go on"
        danger
        onConfirm={() => run("cancel")}
      />
      <ConfirmDialog
        open={asking === "rollback"}
        onOpenChange={(open) => !open && stopAsking()}
        title="Roll back this order?"
        description="What is under way is stopped, then what its tasks did outside of the sandbox is undone, the last first. An order that was rolled back is over: it cannot be retried."
        confirmLabel="Roll back"
        danger
        onConfirm={() => run("rollback")}
      >
        {asking === "rollback" && <Undone tasks={tasks} />}
      </ConfirmDialog>
    </>
  );
}

/** What a rollback undoes, as far as the tools say so. */
function Undone({ tasks }: { tasks: readonly Task[] }) {
  const tools = useQuery(toolsQuery());
  if (!tools.data) return null;
  const steps = undoSteps(tasks, tools.data);
  if (steps.length === 0) {
    return <p>So far no task did anything that its tool can undo.</p>;
  }
  return (
    <>
      <p className="font-medium">This is undone:</p>
      <ul className="mt-1 list-disc space-y-0.5 pl-5">
        {steps.slice(0, 12).map((step) => (
          <li key={step.path} className="break-words">
            <SafeText className="font-mono text-[13px]" text={step.path} max={100} /> by{" "}
            <SafeText className="font-mono text-[13px]" text={step.undo} max={100} />
          </li>
        ))}
      </ul>
      {steps.length > 12 && <p className="mt-1">And {steps.length - 12} more.</p>}
    </>
  );
}
