import { lazy, Suspense } from "react";

import { cx } from "@/ui/cx";
import { Skeleton } from "@/ui/skeleton";
import type { TaskGraphProps } from "@/ui/task-graph/task-graph";

const Canvas = lazy(async () => ({
  default: (await import("@/ui/task-graph/task-graph")).TaskGraphCanvas,
}));

/** The graph of tasks; its code comes only when one is shown. Give it a height by `className`. */
export function TaskGraph(props: TaskGraphProps) {
  return (
    <Suspense
      fallback={
        <div aria-busy="true" aria-label="Loading the graph" className={cx("p-4", props.className)}>
          <Skeleton className="h-full w-full" />
        </div>
      }
    >
      <Canvas {...props} />
    </Suspense>
  );
}
