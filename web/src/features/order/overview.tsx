import { useQuery } from "@tanstack/react-query";
import { Play, RotateCcw } from "lucide-react";
import type { ReactNode } from "react";

import { orderApprovalsQuery } from "@/api/approvals";
import type { Order, Task } from "@/api/types";
import { Button } from "@/ui/button";
import { Card } from "@/ui/card";
import { ButtonLink, Link } from "@/ui/link";
import { SafeText } from "@/ui/safe-text";
import { ApprovalCard } from "./approval-card";
import { bannerOf } from "./banners";
import { CompletionSummary } from "./completion-summary";
import { OrderBanner, OrderWarnings } from "./order-banner";
import { PhaseTracker } from "./phase-tracker";
import { PromptBox } from "./prompt-box";
import { TasksSection, type TasksSectionProps } from "./tasks-section";
import type { OrderActions } from "./use-order-actions";

export interface OverviewProps extends TasksSectionProps {
  tasks: readonly Task[];
  actions: OrderActions;
}

export function Overview({ tasks, actions, ...section }: OverviewProps) {
  const { order } = section;
  const approvals = useQuery(orderApprovalsQuery(order.agent_work_order_id));
  const questions = approvals.data ?? [];
  const isAsked = questions.some((one) => one.state === "asked");
  // The question itself says it better.
  const banner = order.waiting_reason === "approval" && isAsked ? null : bannerOf(order);
  return (
    <div className="space-y-4">
      {banner && (
        <OrderBanner banner={banner} actions={<WayOn order={order} actions={actions} />} />
      )}
      {questions.map((approval) => (
        <ApprovalCard key={approval.approval_id} approval={approval} />
      ))}
      <OrderWarnings warnings={order.warnings} />
      {order.status === "completed" && <CompletionSummary order={order} tasks={tasks} />}
      <PhaseTracker order={order} />
      <TasksSection {...section} />
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <PromptBox order={order} />
        <Asked order={order} />
      </div>
    </div>
  );
}

/** What most people do next about such a state. */
function WayOn({ order, actions }: { order: Order; actions: OrderActions }) {
  const next = (["resume", "retry"] as const).find((one) => actions.allowed.includes(one));
  return (
    <>
      {order.status === "failed" && (
        <ButtonLink
          size="sm"
          to="/orders/$orderId"
          params={{ orderId: order.agent_work_order_id }}
          search={{ tab: "transcript" }}
        >
          Read the transcript
        </ButtonLink>
      )}
      {next && (
        <Button
          size="sm"
          variant="primary"
          icon={next === "resume" ? Play : RotateCcw}
          busy={actions.busy === next}
          onClick={() => actions.ask(next)}
        >
          {next === "resume" ? "Resume" : "Retry"}
        </Button>
      )}
    </>
  );
}

/** What was asked for, and with what. */
function Asked({ order }: { order: Order }) {
  const agent = order.agent["name"];
  return (
    <Card title="What was asked">
      {order.initial_prompt ? (
        <div
          className="max-h-72 overflow-y-auto rounded"
          tabIndex={0}
          role="region"
          aria-label="Prompt"
        >
          <SafeText className="block" text={order.initial_prompt} max={20_000} lines />
        </div>
      ) : (
        <p className="text-ink-soft">No prompt; the workflow says what to do.</p>
      )}
      <dl className="mt-4 grid grid-cols-[max-content_minmax(0,1fr)] gap-x-4 gap-y-1 border-t border-line pt-3 text-[13px]">
        <Row name="Workflow">
          <Link to="/workflows/$name" params={{ name: order.workflow_type }}>
            <SafeText text={order.workflow_type} max={120} />
          </Link>
        </Row>
        {order.github_issue_number && (
          <Row name="Issue">
            <SafeText text={`#${order.github_issue_number}`} max={40} />
          </Row>
        )}
        <Row name="Agent">
          <SafeText text={typeof agent === "string" ? agent : "the default one"} max={80} />
        </Row>
        <Row name="Sandbox">
          <SafeText text={order.sandbox_type} max={80} />
        </Row>
        {order.base_branch && (
          <Row name="Starts from">
            <SafeText className="font-mono" text={order.base_branch} max={120} />
          </Row>
        )}
        <Row name="Priority">
          <SafeText text={order.priority} max={40} />
        </Row>
      </dl>
    </Card>
  );
}

function Row({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-ink-faint">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  );
}
