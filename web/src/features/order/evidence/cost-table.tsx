import { clean, truncateMiddle } from "@/lib/text";
import { compact } from "@/lib/money";
import { Badge } from "@/ui/badge";
import { Money } from "@/ui/money";

import { barPercent, type CostSummary, type TaskCost } from "./cost-model";

const CELL = "px-3 py-2 text-right tabular-nums max-sm:hidden";

/** Tasks with their share as a bar. On a phone only what it cost is left. */
export function CostTable({ summary }: { summary: CostSummary }) {
  return (
    <table className="w-full text-[13px]">
      <thead>
        <tr className="border-b border-line text-xs text-ink-faint">
          <th scope="col" className="px-4 py-2 text-left font-medium sm:w-1/3">
            Task
          </th>
          <th scope="col" className={`${CELL} font-medium`}>
            Agent runs
          </th>
          <th scope="col" className={`${CELL} font-medium`}>
            Turns
          </th>
          <th scope="col" className={`${CELL} font-medium`}>
            In
          </th>
          <th scope="col" className={`${CELL} font-medium`}>
            Out
          </th>
          <th scope="col" className={`${CELL} font-medium`}>
            Cache
          </th>
          <th scope="col" className="w-2/5 px-4 py-2 text-right font-medium sm:w-1/4">
            Cost
          </th>
        </tr>
      </thead>
      <tbody>
        {summary.tasks.map((task) => (
          <CostRow key={task.task} task={task} mostUsd={summary.mostUsd} />
        ))}
      </tbody>
    </table>
  );
}

function CostRow({ task, mostUsd }: { task: TaskCost; mostUsd: number }) {
  return (
    <tr className="border-b border-line last:border-b-0">
      <th scope="row" className="max-w-0 px-4 py-2 text-left font-normal">
        <span className="block truncate font-mono text-xs" title={clean(task.task)}>
          {truncateMiddle(clean(task.task), 60)}
        </span>
        <span className="flex flex-wrap gap-1 text-xs text-ink-faint">
          {task.models.map((model) => (
            <span key={model}>{truncateMiddle(clean(model), 40)}</span>
          ))}
          {task.scripted && <Badge tone="neutral">Scripted</Badge>}
        </span>
      </th>
      <td className={CELL}>{task.runs.length || "—"}</td>
      <td className={CELL}>{compact(task.turns)}</td>
      <td className={CELL}>{compact(task.inputTokens)}</td>
      <td className={CELL}>{compact(task.outputTokens)}</td>
      <td className={CELL}>{compact(task.cacheTokens)}</td>
      <td className="px-4 py-2">
        <span className="flex items-center justify-end gap-2">
          <span aria-hidden className="h-2 min-w-8 flex-1 overflow-hidden rounded-full bg-sunken">
            <span
              className="block h-full rounded-full bg-accent"
              style={{ width: `${barPercent(task.costUsd, mostUsd)}%` }}
            />
          </span>
          {task.costUsd === null ? (
            <span className="text-ink-faint">{task.scripted ? "—" : "not told"}</span>
          ) : (
            <Money usd={task.costUsd} certainty={task.certainty} />
          )}
        </span>
      </td>
    </tr>
  );
}
