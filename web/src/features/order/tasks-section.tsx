import { useQuery } from "@tanstack/react-query";
import { ListTree, Network, Waypoints } from "lucide-react";
import { useMemo, useState } from "react";

import { tasksQuery } from "@/api/orders";
import type { Order, Task } from "@/api/types";
import { foldTasks } from "@/lib/graph";
import { clean, truncate } from "@/lib/text";
import { useMedia } from "@/lib/use-media";
import { Button } from "@/ui/button";
import { Card } from "@/ui/card";
import { cx } from "@/ui/cx";
import { Dialog } from "@/ui/dialog";
import { EmptyState } from "@/ui/empty-state";
import { ErrorState } from "@/ui/error-state";
import { SkeletonText } from "@/ui/skeleton";
import { TaskGraph } from "@/ui/task-graph/lazy";
import { TaskList } from "./task-list";
import { TaskDetails, TaskPanel } from "./task-panel";
import { useUnfolded } from "./use-unfolded";

/** Tailwind's `sm` and `lg`, for what CSS alone cannot decide. */
const PHONE = "(max-width: 39.98rem)";
const NARROW = "(max-width: 63.98rem)";

type View = "graph" | "list";

export interface TasksSectionProps {
  order: Order;
  /** Path of the task in the address. */
  selected: string | null;
  onSelect: (path: string | null) => void;
}

/** The tasks as a graph or as a list, and beside it the one that is selected. */
export function TasksSection({ order, selected, onSelect }: TasksSectionProps) {
  const tasks = useQuery(tasksQuery(order.agent_work_order_id));
  const isPhone = useMedia(PHONE);
  const [view, setView] = useState<View>(() => readView() ?? (isPhone ? "list" : "graph"));
  const choose = (next: View) => {
    setView(next);
    keepView(next);
  };
  return (
    <Card title="Tasks" flush actions={<ViewSwitch view={view} onChange={choose} />}>
      {tasks.isPending && <SkeletonText lines={5} className="p-4" />}
      {tasks.isError && !tasks.data && (
        <ErrorState className="m-4" error={tasks.error} onRetry={() => void tasks.refetch()} />
      )}
      {tasks.data?.length === 0 && (
        <EmptyState icon={Waypoints} title="No tasks yet">
          They appear here when the order begins.
        </EmptyState>
      )}
      {tasks.data && tasks.data.length > 0 && (
        <Content
          order={order}
          tasks={tasks.data}
          view={view}
          isPhone={isPhone}
          selected={selected}
          onSelect={onSelect}
        />
      )}
    </Card>
  );
}

interface ContentProps extends TasksSectionProps {
  tasks: Task[];
  view: View;
  isPhone: boolean;
}

function Content({ order, tasks, view, isPhone, selected, onSelect }: ContentProps) {
  const { unfolded, toggle } = useUnfolded(selected);
  const graph = useMemo(() => foldTasks(tasks, unfolded), [tasks, unfolded]);
  const isNarrow = useMedia(NARROW);
  const task = tasks.find((one) => one.path === selected);
  const close = () => onSelect(null);
  return (
    <div className={cx(task && !isNarrow && "grid grid-cols-[minmax(0,1fr)_22rem]")}>
      {view === "graph" ? (
        <TaskGraph
          className={isPhone || task || graph.nodes.length > 6 ? "h-104" : "h-64"}
          label="Graph of the tasks. The list shows the same."
          graph={graph}
          direction={isPhone ? "down" : "right"}
          selected={selected}
          onSelect={onSelect}
          onToggle={toggle}
        />
      ) : (
        <div className="max-h-128 overflow-y-auto p-1.5">
          <TaskList graph={graph} selected={selected} onSelect={onSelect} onToggle={toggle} />
        </div>
      )}
      {task && !isNarrow && (
        <div className="max-h-104 overflow-y-auto">
          <TaskPanel order={order} task={task} onClose={close} />
        </div>
      )}
      {isNarrow && (
        <Dialog
          open={task !== undefined}
          onOpenChange={(open) => !open && close()}
          title={truncate(clean(task?.path ?? "Task"), 200)}
        >
          {task && <TaskDetails order={order} task={task} />}
        </Dialog>
      )}
    </div>
  );
}

function ViewSwitch({ view, onChange }: { view: View; onChange: (view: View) => void }) {
  return (
    <div
      role="group"
      aria-label="Show tasks as"
      className="flex gap-0.5 rounded-md bg-sunken p-0.5"
    >
      {(["graph", "list"] as const).map((one) => (
        <Button
          key={one}
          size="sm"
          variant={one === view ? "secondary" : "ghost"}
          icon={one === "graph" ? Network : ListTree}
          aria-pressed={one === view}
          onClick={() => onChange(one)}
        >
          {one === "graph" ? "Graph" : "List"}
        </Button>
      ))}
    </div>
  );
}

const VIEW_KEY = "awo.tasks-view";

/** A browser may refuse to keep anything; then the choice lasts as long as the page. */
function readView(): View | null {
  try {
    const kept = localStorage.getItem(VIEW_KEY);
    return kept === "graph" || kept === "list" ? kept : null;
  } catch {
    return null;
  }
}

function keepView(view: View): void {
  try {
    localStorage.setItem(VIEW_KEY, view);
  } catch {
    // Not kept.
  }
}
