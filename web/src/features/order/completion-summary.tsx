import { CircleCheck, FileDiff, Plus, ShieldAlert } from "lucide-react";
import { Suspense, useState, type ReactNode } from "react";

import { useMay } from "@/api/roles";
import type { Order, Task } from "@/api/types";
import { late } from "@/lib/late-code";
import { safeHref } from "@/lib/text";
import { Arriving } from "@/ui/arriving";
import { buttonClass } from "@/ui/button";
import { cx } from "@/ui/cx";
import { ButtonLink, OutsideLink } from "@/ui/link";
import { Money } from "@/ui/money";
import { SafeText } from "@/ui/safe-text";
import { SkeletonText } from "@/ui/skeleton";
import { Duration } from "@/ui/time";
import { TONE_TEXT } from "@/ui/tone";
import { ReviewText } from "./review-text";
import { changesOf, hasPlanned, lastWords, rounds, testVerdict } from "./summary-model";

const PlanText = late(async () => (await import("./plan-text")).PlanText);

/** What came of an order that is done, and where to go from here. */
export function CompletionSummary({ order, tasks }: { order: Order; tasks: readonly Task[] }) {
  const id = order.agent_work_order_id;
  const request = safeHref(order.github_pull_request_url);
  const said = lastWords(tasks);
  const isUnverified = order.verification === "unverified" || order.verification === "failed";
  const { allowed: mayOperate } = useMay("operate");
  return (
    <section
      aria-label="Summary"
      className={cx(
        "rounded-lg border bg-surface",
        isUnverified ? "border-attention/40" : "border-good/40",
      )}
    >
      <div
        className={cx(
          "flex flex-wrap items-center gap-x-3 gap-y-2 rounded-t-lg px-4 py-3",
          isUnverified ? "bg-attention-wash" : "bg-good-wash",
        )}
      >
        <Heading order={order} isUnverified={isUnverified} />
        <div className="flex flex-wrap gap-2">
          {request && (
            <OutsideLink
              href={request}
              className={buttonClass("primary", "sm", "text-accent-ink!")}
            >
              Open the pull request
            </OutsideLink>
          )}
          {order.git_files_changed > 0 && (
            <ButtonLink
              size="sm"
              variant={request ? "secondary" : "primary"}
              to="/orders/$orderId"
              params={{ orderId: id }}
              search={{ tab: "changes" }}
            >
              <FileDiff aria-hidden className="size-4" /> View the changes
            </ButtonLink>
          )}
          {mayOperate && (
            <ButtonLink size="sm" to="/new" search={{ repository: order.repository_url }}>
              <Plus aria-hidden className="size-4" /> New work order
            </ButtonLink>
          )}
        </div>
      </div>
      <dl className="flex flex-wrap gap-x-10 gap-y-3 px-4 py-3">
        <Results order={order} tasks={tasks} />
      </dl>
      {said && (
        <blockquote className="mx-4 mb-3 max-h-32 overflow-y-auto border-l-2 border-line pl-3 text-ink-soft">
          <SafeText text={said} max={4000} lines />
        </blockquote>
      )}
      {hasPlanned(tasks) && (
        <Later title="What was planned">
          <PlanText orderId={id} />
        </Later>
      )}
      {order.github_pull_request_url !== null && request === null && (
        <Later title="What reviewers read">
          <ReviewText orderId={id} />
        </Later>
      )}
    </section>
  );
}

function Heading({ order, isUnverified }: { order: Order; isUnverified: boolean }) {
  const Icon = isUnverified ? ShieldAlert : CircleCheck;
  return (
    <>
      <Icon
        aria-hidden
        className={cx("size-5 shrink-0", isUnverified ? "text-attention" : "text-good")}
      />
      <h2 className="min-w-0 flex-1 font-semibold">
        {isUnverified ? "Done, but unverified" : "Done. This is what came of it."}
        {isUnverified && order.verification_reason && (
          <>
            {": "}
            <SafeText text={order.verification_reason} max={200} />
          </>
        )}
      </h2>
    </>
  );
}

function Results({ order, tasks }: { order: Order; tasks: readonly Task[] }) {
  const tests = testVerdict(tasks);
  const loops = rounds(tasks);
  return (
    <>
      <Result name="Changed">
        {changesOf(order)}
        {order.git_files_changed > 0 && (
          <span className="block text-[13px] tabular-nums">
            <span className="text-good">+{order.git_lines_added}</span>{" "}
            <span className="text-bad">−{order.git_lines_removed}</span> lines
          </span>
        )}
      </Result>
      <Result name="Tests">
        {tests ? <span className={TONE_TEXT[tests.tone]}>{tests.words}</span> : "Not run"}
      </Result>
      <Result name="Offered as">
        <Offered order={order} />
      </Result>
      <Result name="Took">
        <Duration from={order.execution_started_at} to={order.execution_completed_at} />
      </Result>
      <Result name="Cost">
        <Money usd={order.cost_usd} certainty={order.cost_certainty} />
      </Result>
      {loops !== null && <Result name="Rounds">{loops}</Result>}
    </>
  );
}

function Result({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="max-w-full min-w-0">
      <dt className="text-xs text-ink-faint">{name}</dt>
      <dd className="break-words">{children}</dd>
    </div>
  );
}

/** Where a reviewer finds it: a pull request, or a review for a repository without a forge. */
function Offered({ order }: { order: Order }) {
  const request = order.github_pull_request_url;
  if (safeHref(request)) return <OutsideLink href={request}>Pull request</OutsideLink>;
  if (!order.branch_offered) return <>Nothing was offered</>;
  return (
    <>
      {request !== null && "Review of "}
      <SafeText className="font-mono text-[13px]" text={order.git_branch_name ?? "–"} max={120} />
    </>
  );
}

/** Loaded only when somebody wants to read it. */
function Later({ title, children }: { title: string; children: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      className="border-t border-line px-4 py-2.5"
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary className="w-fit cursor-pointer rounded font-medium">{title}</summary>
      {isOpen && (
        <div className="mt-2">
          <Suspense
            fallback={
              <Arriving label={`Loading ${title}`}>
                <SkeletonText lines={4} />
              </Arriving>
            }
          >
            {children}
          </Suspense>
        </div>
      )}
    </details>
  );
}
