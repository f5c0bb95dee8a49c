import { Suspense } from "react";

import { late } from "@/lib/late-code";
import { Arriving } from "@/ui/arriving";
import { cx } from "@/ui/cx";
import { Skeleton } from "@/ui/skeleton";
import type { TaskGraphProps } from "@/ui/task-graph/task-graph";

const Canvas = late(async () => (await import("@/ui/task-graph/task-graph")).TaskGraphCanvas);

/** The graph of tasks; its code comes only when one is shown. Give it a height by `className`. */
export function TaskGraph(props: TaskGraphProps) {
  return (
    <Suspense
      fallback={
        <Arriving label="Loading the graph" className={cx("p-4", props.className)}>
          <Skeleton className="h-full w-full" />
        </Arriving>
      }
    >
      <Canvas {...props} />
    </Suspense>
  );
}
