import { useInfiniteQuery, useQueries, useQuery } from "@tanstack/react-query";
import { Coins, ScrollText } from "lucide-react";

import { tasksQuery, transcriptQuery } from "@/api/orders";
import { metricsQuery, spendingQuery } from "@/api/spending";
import { compact } from "@/lib/money";
import { plural } from "@/lib/text";
import { Card } from "@/ui/card";
import { EmptyState } from "@/ui/empty-state";
import { ErrorState } from "@/ui/error-state";
import { Money } from "@/ui/money";

import { costSummary, taskCost, type CostSummary } from "./cost-model";
import { CostTable } from "./cost-table";
import { isOpen, PanelSkeleton, type PanelProps } from "./panel-states";
import { Stat, Stats } from "./stats";
import { transcriptChoices } from "./transcript-model";

/** What the agents of an order have used, task by task. */
export function CostPanel({ orderId, order }: PanelProps) {
  const transcripts = useInfiniteQuery(transcriptQuery(orderId, null));
  const tasks = useQuery(tasksQuery(orderId));
  const metrics = useQuery(metricsQuery(orderId, `${order.status} ${order.cost_usd}`));
  const choices = transcriptChoices(transcripts.data?.pages[0]?.tasks ?? [], tasks.data ?? []);
  const spending = useQueries({
    queries: choices.map(({ name, state }) => {
      const attempt = tasks.data?.find((task) => task.path === name)?.attempt ?? 0;
      return spendingQuery(orderId, name, `${state} ${attempt} ${order.cost_usd}`);
    }),
  });
  const isPending =
    transcripts.isPending || tasks.isPending || spending.some((one) => one.isPending);
  const failed = [transcripts, ...spending].find((one) => one.isError && !one.data);

  if (isPending && !failed) {
    return (
      <Card title="Cost" flush>
        <PanelSkeleton label="Loading costs" rows={4} />
      </Card>
    );
  }
  const told = choices.map(({ name }, at) => {
    const booked = tasks.data?.find((task) => task.path === name)?.usage ?? null;
    return taskCost(name, spending[at]?.data ?? [], booked);
  });
  const summary = costSummary(told, order);
  const { inputTokens, outputTokens, turns } = summary.told;
  return (
    <div className="flex flex-col gap-4">
      {failed && (
        <ErrorState
          error={failed.error}
          onRetry={() => [transcripts, ...spending].forEach((one) => void one.refetch())}
        />
      )}
      <Card title="Cost" description="As the agents themselves report it">
        {summary.onlyScripted && <ScriptedNote cost={order.cost_usd} />}
        <Stats>
          <Stat label="Order total" value={<Money usd={order.cost_usd} certainty={order.cost_certainty} />} />
          <Stat label="Turns of the model" value={compact(metrics.data?.turns ?? turns)} />
          <Stat label="Tokens in" value={compact(metrics.data?.inputTokens ?? inputTokens)} />
          <Stat label="Tokens out" value={compact(metrics.data?.outputTokens ?? outputTokens)} />
        </Stats>
        <Unexplained summary={summary} />
      </Card>
      <Card title="By task" description={plural(told.length, "agent task")} flush>
        {told.length === 0 ? (
          <EmptyState icon={Coins} title="Nothing spent yet">
            {isOpen(order)
              ? "Costs appear here when an agent ends its first turn."
              : "No agent ran in this order."}
          </EmptyState>
        ) : (
          <CostTable summary={summary} />
        )}
      </Card>
    </div>
  );
}

function ScriptedNote({ cost }: { cost: number }) {
  return (
    <p className="mb-4 flex items-start gap-2 rounded-md bg-neutral-wash px-3 py-2 text-[13px] text-neutral">
      <ScrollText aria-hidden className="mt-0.5 size-4 shrink-0" />
      {cost > 0
        ? "Scripted agent: no model was asked. The amounts come from its script."
        : "Scripted agent: no cost. It follows a script and asks no model."}
    </p>
  );
}

function Unexplained({ summary }: { summary: CostSummary }) {
  if (summary.unexplainedUsd === 0 || summary.tasks.length === 0) return null;
  return (
    <p className="mt-3 text-[13px] text-ink-soft">
      <Money usd={summary.unexplainedUsd} /> of the total is in no transcript: turns that were
      broken off, or that told their cost to the server only.
    </p>
  );
}
