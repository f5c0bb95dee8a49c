import type { ColumnDef } from "@tanstack/react-table";

import type { OrderSummary } from "@/api/types";
import { repositoryName } from "@/lib/repository";
import { Money } from "@/ui/money";
import { SafeText } from "@/ui/safe-text";
import { OrderBadge } from "@/ui/status-badge";
import { RelativeTime } from "@/ui/time";
import { VerificationBadge } from "@/ui/verification-badge";
import { agentName, PHASE_WORDS, priorityWord, workflowWord, type ColumnId } from "./model";
import { OrderLink } from "./order-link";

/** Widths for a CSS grid; texts get what is left over. */
export const WIDTHS = {
  status: "7rem",
  title: "minmax(13rem, 3fr)",
  repository: "minmax(6.5rem, 1fr)",
  workflow: "minmax(7rem, 1.2fr)",
  phase: "6.5rem",
  agent: "6.5rem",
  priority: "4.5rem",
  cost: "5rem",
  updated: "6rem",
  created: "6rem",
} satisfies Record<ColumnId, string>;

/** Numbers stand under each other. */
export const RIGHT: readonly string[] = ["cost"] satisfies ColumnId[];

interface Column {
  id: ColumnId;
  header: string;
  cell: (order: OrderSummary) => React.ReactNode;
}

const COLUMNS: readonly Column[] = [
  { id: "status", header: "Status", cell: (order) => <OrderBadge order={order} /> },
  { id: "title", header: "Title", cell: (order) => <TitleCell order={order} /> },
  {
    id: "repository",
    header: "Repository",
    cell: (order) => (
      <SafeText text={repositoryName(order)} max={120} title={order.repository_url} />
    ),
  },
  {
    id: "workflow",
    header: "Workflow",
    cell: (order) => (
      <SafeText text={workflowWord(order.workflow_type)} title={order.workflow_type} max={80} />
    ),
  },
  {
    id: "phase",
    header: "Phase",
    cell: (order) => PHASE_WORDS[order.current_phase ?? ""] ?? <Nothing />,
  },
  {
    id: "agent",
    header: "Agent",
    cell: (order) => <SafeText text={agentName(order.agent) || "–"} max={40} />,
  },
  {
    id: "priority",
    header: "Priority",
    cell: (order) => <SafeText text={priorityWord(order.priority)} max={20} />,
  },
  { id: "cost", header: "Cost", cell: (order) => <Money usd={order.cost_usd} certainty={order.cost_certainty} /> },
  {
    id: "updated",
    header: "Updated",
    cell: (order) => <RelativeTime className="relative" value={order.updated_at} />,
  },
  {
    id: "created",
    header: "Created",
    cell: (order) => <RelativeTime className="relative" value={order.created_at} />,
  },
];

export const COLUMN_DEFS: ColumnDef<OrderSummary>[] = COLUMNS.map(({ id, header, cell }) => ({
  id,
  header,
  cell: ({ row }) => cell(row.original),
}));

function TitleCell({ order }: { order: OrderSummary }) {
  return (
    <>
      <OrderLink order={order} />
      <span className="flex min-w-0 items-center gap-2">
        <span className="truncate font-mono text-xs text-ink-faint">
          <SafeText text={order.agent_work_order_id} max={40} />
        </span>
        <VerificationBadge
          className="h-4.5"
          verification={order.verification}
          reason={order.verification_reason}
        />
      </span>
    </>
  );
}

function Nothing() {
  return (
    <span className="text-ink-faint">
      <span aria-hidden>–</span>
      <span className="sr-only">none</span>
    </span>
  );
}
