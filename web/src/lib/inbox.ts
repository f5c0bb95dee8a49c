/** What needs a person, what goes on, what can be looked at, and what is over. */
import { explainWaiting, guidance, type OrderLike } from "./explain";
import { wasRejected } from "./rejected";
import { firstLine, truncate } from "./text";
import { instant } from "./time";

export interface InboxOrder extends OrderLike {
  title: string | null;
  initial_prompt: string | null;
  github_issue_number: string | null;
  priority: string;
  current_phase: string | null;
  git_branch_name: string | null;
  github_pull_request_url: string | null;
  branch_offered: boolean;
  created_at: string;
  updated_at: string;
  execution_completed_at: string | null;
}

export interface InboxApproval {
  approval_id: string;
  agent_work_order_id: string;
  task: string;
  message: string;
  state: string;
  asked_at: string;
  expires_at: string | null;
}

export interface InboxItem<O extends InboxOrder, A extends InboxApproval> {
  key: string;
  /** One line in plain words: why it is here. */
  reason: string;
  /** When that began; items are sorted by it. */
  since: string;
  /** Null for an approval whose order is not among those given. */
  order: O | null;
  approval: A | null;
}

export interface Inbox<O extends InboxOrder, A extends InboxApproval> {
  needsYou: InboxItem<O, A>[];
  running: InboxItem<O, A>[];
  inReview: InboxItem<O, A>[];
  done: InboxItem<O, A>[];
}

const RECENT_MS = 7 * 24 * 60 * 60 * 1000;

const PHASE_WORDS: Record<string, string> = {
  planning: "Planning",
  implementing: "Implementing",
  testing: "Testing",
};

/** What an order is called, from the best that is known of it. */
export function orderTitle(
  order: Pick<
    InboxOrder,
    "agent_work_order_id" | "title" | "initial_prompt" | "github_issue_number"
  >,
): string {
  const words = firstLine(order.title ?? "") || firstLine(order.initial_prompt ?? "");
  if (words) return truncate(words, 120);
  if (order.github_issue_number) return `Issue #${order.github_issue_number}`;
  return order.agent_work_order_id;
}

export function inbox<O extends InboxOrder, A extends InboxApproval>(
  orders: readonly O[],
  approvals: readonly A[],
  now: number,
): Inbox<O, A> {
  const result: Inbox<O, A> = { needsYou: [], running: [], inReview: [], done: [] };
  const byId = new Map(orders.map((order) => [order.agent_work_order_id, order]));
  const asking = new Set<string>();
  for (const approval of approvals) {
    if (approval.state !== "asked") continue;
    asking.add(approval.agent_work_order_id);
    result.needsYou.push({
      key: `approval:${approval.approval_id}`,
      reason: firstLine(approval.message) || "An approval is asked for",
      since: approval.asked_at,
      order: byId.get(approval.agent_work_order_id) ?? null,
      approval,
    });
  }
  for (const order of byId.values()) {
    const { section, reason, since } = placeOf(order, now, asking);
    if (section === null) continue;
    const key = `order:${order.agent_work_order_id}`;
    result[section].push({ key, reason, since, order, approval: null });
  }
  const pressure = byPressure(now);
  // Of what presses alike, who has waited longest comes first.
  result.needsYou.sort(
    (a, b) => pressure(a, b) || byTime(a, b) || compare(a.key, b.key),
  );
  // Of the rest, what is newest.
  for (const section of [result.running, result.inReview, result.done]) {
    section.sort((a, b) => byTime(b, a) || compare(a.key, b.key));
  }
  return result;
}

interface Placed {
  section: keyof Inbox<InboxOrder, InboxApproval> | null;
  reason: string;
  since: string;
}

function placeOf(order: InboxOrder, now: number, asking: ReadonlySet<string>): Placed {
  const since = order.updated_at;
  const ended = order.execution_completed_at ?? order.updated_at;
  const isRecent = now - (instant(ended) ?? 0) <= RECENT_MS;
  switch (order.status) {
    case "waiting":
    case "paused": {
      const why = explainWaiting(order);
      const isAsked = asking.has(order.agent_work_order_id);
      // Its approval is in the list already.
      if (order.waiting_reason === "approval" && isAsked)
        return { section: null, reason: "", since };
      const section = (why?.needsPerson ?? true) ? "needsYou" : "running";
      return { section, reason: why?.title ?? "Waiting", since };
    }
    case "failed":
      if (wasRejected(order)) return { section: "done", reason: "Rejected", since: ended };
      return {
        section: isRecent ? "needsYou" : "done",
        reason: guidance(order)?.title ?? "Failed",
        since: ended,
      };
    case "completed":
      if (isRecent && order.branch_offered) {
        const reason = order.github_pull_request_url ? "Pull request is ready" : "Branch is ready";
        return { section: "inReview", reason, since: ended };
      }
      return { section: "done", reason: "Completed", since: ended };
    case "cancelled":
      return { section: "done", reason: "Cancelled", since: ended };
    case "pending":
      return {
        section: "running",
        reason: explainWaiting(order)?.title ?? "Starts when there is room",
        since: order.created_at,
      };
    default: {
      const phase = Object.hasOwn(PHASE_WORDS, order.current_phase ?? "")
        ? order.current_phase
        : null;
      return { section: "running", reason: (phase && PHASE_WORDS[phase]) ?? "Running", since };
    }
  }
}

const URGENCY: Record<string, number> = { urgent: 0, high: 1 };
/** Who looks once a day must see it before it is too late. */
const SOON_MS = 24 * 60 * 60 * 1000;

interface Pressing {
  order: { priority: string } | null;
  approval: { expires_at: string | null } | null;
}

/** What presses most comes first: the urgent, then questions that nobody can answer for long. */
export function byPressure(now: number) {
  return (a: Pressing, b: Pressing) => byUrgency(a, b) || byExpiry(a, b, now);
}

function byUrgency(a: Pressing, b: Pressing): number {
  const of = ({ order }: Pressing) => URGENCY[order?.priority ?? ""] ?? 2;
  return of(a) - of(b);
}

function byExpiry(a: Pressing, b: Pressing, now: number): number {
  const of = ({ approval }: Pressing) => {
    const at = instant(approval?.expires_at) ?? Number.POSITIVE_INFINITY;
    return at - now <= SOON_MS ? at : Number.MAX_VALUE;
  };
  return of(a) - of(b);
}

function byTime(a: { since: string }, b: { since: string }): number {
  return (instant(a.since) ?? 0) - (instant(b.since) ?? 0);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
