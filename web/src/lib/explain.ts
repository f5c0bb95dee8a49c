/** Why an order stands still or failed, and what to do, in plain words. */

import { wasRejected } from "./rejected";
import { type WaitingReason } from "./waiting-reason";

/** What is looked at of an order of the API. */
export interface OrderLike {
  agent_work_order_id: string;
  status: string;
  waiting_reason: string | null;
  waiting_until: string | null;
  error_code: string | null;
  error_message: string | null;
  error_hint: string | null;
  /** Or is being: it is over for good. */
  rolled_back?: boolean;
}

export interface WaitingExplanation {
  /** One line: "Waiting for your approval". */
  title: string;
  /** What to do, or that nothing needs to be done. */
  next: string;
  /** Nothing moves before a person decides. */
  needsPerson: boolean;
  until: string | null;
}

const BY_REASON = {
  approval: {
    title: "Waiting for an approval",
    next: "Look at what is asked for, then approve or reject it.",
    needsPerson: true,
  },
  paused: {
    title: "Paused",
    next: "Resume it when it should go on.",
    needsPerson: true,
  },
  quarantined: {
    title: "Put aside: its journal is damaged",
    next: "Restore a backup. `awo doctor` lists what is damaged; other orders go on.",
    needsPerson: true,
  },
  model_quota: {
    title: "Waiting for the model's quota",
    next: "It goes on by itself when the quota is renewed.",
    needsPerson: false,
  },
  model_unavailable: {
    title: "Waiting for the model to answer again",
    next: "It goes on by itself, with the files and the session as they were. If this stays so, check the model's status and the network.",
    needsPerson: false,
  },
  disk_full: {
    title: "Waiting for space on the server's disk",
    next: "Free space where the data directory is: the step is tried again by itself, and nothing is lost.",
    needsPerson: true,
  },
  rate_limit: {
    title: "In the queue: too many orders at once",
    next: "It starts by itself when there is room.",
    needsPerson: false,
  },
  github_quota: {
    title: "Waiting for GitHub",
    next: "Its limits allow nothing before. It goes on by itself.",
    needsPerson: false,
  },
  github_unavailable: {
    title: "Waiting for GitHub to answer again",
    next: "It is tried again by itself. If this stays so, look at GitHub's status and the network.",
    needsPerson: false,
  },
  access_lost: {
    title: "Stopped: GitHub no longer lets us in",
    next: "Look at the App's installation and the repository (removed, suspended, renamed, archived?), then resume.",
    needsPerson: true,
  },
  circuit_open: {
    title: "Waiting for the model to answer again",
    next: "It failed several times in a row and is tried again by itself. If this stays so, check the model's status and the network.",
    needsPerson: false,
  },
} satisfies Record<WaitingReason, Omit<WaitingExplanation, "until">>;

function isKnown(reason: string): reason is WaitingReason {
  return Object.hasOwn(BY_REASON, reason);
}

/** Null for an order that does not wait. An order at work may have a reason too: one task of many. */
export function explainWaiting(order: OrderLike): WaitingExplanation | null {
  const reason = order.waiting_reason ?? "";
  const until = order.waiting_until;
  const known = isKnown(reason) ? BY_REASON[reason] : undefined;
  if (order.status === "pending") return known ? { ...known, until } : null;
  if (order.status !== "waiting" && order.status !== "paused") return null;
  if (reason.startsWith("failure")) {
    const what = afterColon(reason);
    return {
      title: what ? `Stopped by a failure: ${sentence(what)}` : "Stopped by a failure",
      next: "Look at the task that failed, then resume to try it again, override it, or cancel.",
      needsPerson: true,
      until: null,
    };
  }
  if (reason.startsWith("retry")) {
    const what = afterColon(reason);
    return {
      title: what ? `Trying again soon: ${sentence(what)}` : "Trying again soon",
      next: "A passing failure; it is tried again by itself.",
      needsPerson: false,
      until,
    };
  }
  if (known) return { ...known, until };
  if (order.status === "paused") return { ...PAUSED, until: null };
  return {
    title: reason ? `Waiting: ${sentence(reason)}` : "Waiting",
    next: until ? "It goes on by itself." : "Look at its tasks for what it waits for.",
    needsPerson: !until,
    until,
  };
}

const PAUSED = { title: "Paused", next: "Resume it when it should go on.", needsPerson: true };

function afterColon(reason: string): string {
  const at = reason.indexOf(":");
  return at < 0 ? "" : reason.slice(at + 1).trim();
}

/** `agent_timeout` → "agent timeout" */
export function sentence(code: string): string {
  return code.replaceAll("_", " ").trim();
}

export interface Guidance {
  /** It ended as a person wanted, and needs nobody. */
  rejected?: true;
  title: string;
  /** The message of the failure. */
  what: string;
  steps: string[];
  code: string | null;
}

interface Advice {
  title: string;
  steps: string[];
}

const RETRY = "Retry the order when that is done.";
const ROLLED_BACK = "It was rolled back and is over. Create a new order to try again.";
const TRANSCRIPT = "Read the transcript to see what the agent tried.";

const BY_CODE: Record<string, Advice> = {
  agent_auth: {
    title: "The agent may not use its model",
    steps: ["Check the model's API key in the server's settings.", RETRY],
  },
  agent_crashed: {
    title: "The agent ended without a result",
    steps: [TRANSCRIPT, "If it was killed for memory, give it more.", "Retry the order."],
  },
  agent_failed: {
    title: "The agent said that it failed",
    steps: [TRANSCRIPT, "Retry with a prompt that says what to do differently."],
  },
  agent_limit_reached: {
    title: "The agent reached its limit",
    steps: ["Give it more turns or budget, or a smaller task.", RETRY],
  },
  agent_missing: {
    title: "The agent is not installed",
    steps: ["Install it on the server, or create the order with another agent."],
  },
  agent_model_unreachable: {
    title: "The agent's model did not answer",
    steps: ["Check the network and the model's status.", "Retry the order."],
  },
  agent_timeout: {
    title: "The agent did not end in time",
    steps: [TRANSCRIPT, "Give the task a larger timeout, or a smaller task.", RETRY],
  },
  no_changes: {
    title: "No file was changed",
    steps: [TRANSCRIPT, "Say more precisely what to change, and retry with that prompt."],
  },
  tests_failed: {
    title: "The tests did not pass",
    steps: ["Read the test output of the task.", "Retry with a prompt that says what to mend."],
  },
  tests_timeout: {
    title: "The tests took too long",
    steps: ["Find the test that hangs, or give the task a larger timeout.", RETRY],
  },
  git_conflict: {
    title: "The changes conflict with the base branch",
    steps: ["Start a new order on the newer base, or resolve the conflict by hand."],
  },
  disk_full: {
    title: "The server's disk is full",
    steps: ["Free space on the disk of the data directory.", "Retry the order."],
  },
  parked_too_often: {
    title: "The model's quota ran out too often",
    steps: ["Check the quota of the account.", RETRY],
  },
  internal_error: {
    title: "The server hit a bug",
    steps: ["Look at the server's log and report it.", "Retry the order."],
  },
};

/** The message says who, of what, and why. */
function rejection(order: OrderLike): Guidance {
  const again = order.rolled_back
    ? ROLLED_BACK
    : "Nothing needs to be done. To ask again, retry it with a prompt that says what to change.";
  return {
    rejected: true,
    title: "Rejected",
    what: order.error_message?.trim() || "A person said no.",
    steps: [again],
    code: order.error_code,
  };
}

/** For orders that failed; null for others. */
export function guidance(order: OrderLike): Guidance | null {
  if (order.status !== "failed") return null;
  if (wasRejected(order)) return rejection(order);
  const code = order.error_code;
  const known = code !== null && Object.hasOwn(BY_CODE, code) ? BY_CODE[code] : undefined;
  const hint = order.error_hint?.trim();
  const general = known?.steps ?? ["Look at the task that failed and its log, then retry."];
  // The server knows the case; what is known here is general, and would say it again.
  const isRetry = (step: string) => /retry/i.test(step);
  const retry = general.filter(isRetry).slice(-1);
  const advice = hint ? [hint, ...(isRetry(hint) ? [] : retry)] : [...general];
  const steps = order.rolled_back
    ? [...advice.filter((step) => !isRetry(step)), ROLLED_BACK]
    : advice;
  return {
    title: known?.title ?? "The order failed",
    what: order.error_message?.trim() || "No reason was given.",
    steps,
    code,
  };
}
