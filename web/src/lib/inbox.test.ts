import { describe, expect, it } from "vitest";

import { explainWaiting, guidance, type OrderLike } from "./explain";
import { inbox, orderTitle, type InboxApproval, type InboxOrder } from "./inbox";
import { seeded } from "./test-random";

const NOW = Date.parse("2026-03-12T12:00:00Z");
const daysAgo = (days: number) => new Date(NOW - days * 86_400_000).toISOString();

const order = (id: string, more: Partial<InboxOrder> = {}): InboxOrder => ({
  agent_work_order_id: id,
  status: "running",
  waiting_reason: null,
  waiting_until: null,
  error_code: null,
  error_message: null,
  error_hint: null,
  title: null,
  initial_prompt: "Fix it",
  github_issue_number: null,
  priority: "medium",
  current_phase: null,
  git_branch_name: "feat/x",
  github_pull_request_url: null,
  branch_offered: true,
  created_at: daysAgo(2),
  updated_at: daysAgo(1),
  execution_completed_at: null,
  ...more,
});
const approval = (
  id: string,
  orderId: string,
  more: Partial<InboxApproval> = {},
): InboxApproval => ({
  approval_id: id,
  agent_work_order_id: orderId,
  task: "publish",
  message: "Open the pull request?",
  state: "asked",
  asked_at: daysAgo(0.5),
  expires_at: null,
  ...more,
});
const waits = (reason: string | null, status = "waiting", until: string | null = null): OrderLike =>
  order("wo", { status, waiting_reason: reason, waiting_until: until });

describe("explainWaiting", () => {
  it.each([
    ["approval", true],
    ["paused", true],
    ["quarantined", true],
    ["model_quota", false],
    ["circuit_open", false],
    ["model_unavailable", false],
    ["github_quota", false],
    ["github_unavailable", false],
    ["access_lost", true],
    ["retry: git_timeout", false],
    ["failure: tests_failed", true],
    ["failure", true],
  ])("%s: a person must act: %s", (reason, needsPerson) => {
    const why = explainWaiting(waits(reason));
    expect(why?.needsPerson).toBe(needsPerson);
    expect(why?.title).not.toBe("");
    expect(why?.next).not.toBe("");
  });

  it("names the failure in words", () => {
    expect(explainWaiting(waits("failure: tests_failed"))?.title).toBe(
      "Stopped by a failure: tests failed",
    );
    expect(explainWaiting(waits("retry: git_timeout"))?.title).toBe(
      "Trying again soon: git timeout",
    );
    expect(explainWaiting(waits("failure: x", "paused"))?.title).toBe("Stopped by a failure: x");
  });

  it("keeps reasons it does not know, and says who must act", () => {
    expect(explainWaiting(waits("solar_flare"))).toMatchObject({
      title: "Waiting: solar flare",
      needsPerson: true,
    });
    expect(explainWaiting(waits("solar_flare", "waiting", daysAgo(-1)))?.needsPerson).toBe(false);
    expect(explainWaiting(waits("constructor"))?.title).toBe("Waiting: constructor");
    expect(explainWaiting(waits(null))?.title).toBe("Waiting");
    expect(explainWaiting(waits(null, "paused"))?.title).toBe("Paused");
  });

  it("is silent about orders that do not wait", () => {
    expect(explainWaiting(waits("approval", "running"))).toBeNull();
    expect(explainWaiting(waits(null, "pending"))).toBeNull();
    expect(explainWaiting(waits("rate_limit", "pending", daysAgo(-1)))).toMatchObject({
      needsPerson: false,
      until: daysAgo(-1),
    });
    expect(explainWaiting(waits("x", "completed"))).toBeNull();
  });
});

describe("guidance", () => {
  it("puts the server's hint first", () => {
    const found = guidance(
      order("wo", {
        status: "failed",
        error_code: "tests_failed",
        error_message: "The tests did not pass: 3 failed",
        error_hint: "Read test 7.",
      }),
    );
    expect(found).toMatchObject({
      title: "The tests did not pass",
      what: "The tests did not pass: 3 failed",
      code: "tests_failed",
    });
    expect(found?.steps[0]).toBe("Read test 7.");
  });

  it("has words for codes that it does not know, and for none", () => {
    expect(guidance(order("wo", { status: "failed", error_code: "toString" }))?.title).toBe(
      "The order failed",
    );
    const bare = guidance(order("wo", { status: "failed" }));
    expect(bare?.what).toBe("No reason was given.");
    expect(bare?.steps).toHaveLength(1);
    expect(guidance(order("wo"))).toBeNull();
  });
});

describe("orderTitle", () => {
  it("takes the best that is known", () => {
    expect(orderTitle(order("wo-1", { title: "\n A title\nmore" }))).toBe("A title");
    expect(orderTitle(order("wo-1"))).toBe("Fix it");
    expect(orderTitle(order("wo-1", { initial_prompt: null, github_issue_number: "7" }))).toBe(
      "Issue #7",
    );
    expect(orderTitle(order("wo-1", { initial_prompt: " \n " }))).toBe("wo-1");
    expect(orderTitle(order("wo-1", { title: "x".repeat(500) })).length).toBe(120);
  });
});

describe("inbox", () => {
  const sections = (orders: InboxOrder[], approvals: InboxApproval[] = []) => {
    const found = inbox(orders, approvals, NOW);
    const keys = (items: { key: string }[]) => items.map((one) => one.key);
    return [keys(found.needsYou), keys(found.running), keys(found.inReview), keys(found.done)];
  };

  it("sorts orders into sections", () => {
    expect(
      sections([
        order("run", { current_phase: "testing" }),
        order("new", { status: "pending", created_at: daysAgo(3) }),
        order("quota", {
          status: "waiting",
          waiting_reason: "model_quota",
          updated_at: daysAgo(0.5),
        }),
        order("paused", { status: "paused", waiting_reason: "paused" }),
        order("failed", { status: "failed", execution_completed_at: daysAgo(6) }),
        order("old", { status: "failed", execution_completed_at: daysAgo(8) }),
        order("ready", { status: "completed", execution_completed_at: daysAgo(2) }),
        order("past", { status: "completed", execution_completed_at: daysAgo(9) }),
        order("bare", {
          status: "completed",
          // It has a name, and changed nothing that could be offered under it.
          branch_offered: false,
          execution_completed_at: daysAgo(2),
        }),
        order("off", { status: "cancelled", execution_completed_at: daysAgo(1) }),
      ]),
    ).toEqual([
      ["order:failed", "order:paused"],
      ["order:quota", "order:run", "order:new"],
      ["order:ready"],
      ["order:off", "order:bare", "order:old", "order:past"],
    ]);
  });

  it("shows an approval once, with its order, and not when it is settled", () => {
    const asks = order("asks", { status: "waiting", waiting_reason: "approval" });
    expect(
      sections([asks], [approval("a1", "asks"), approval("a2", "asks", { state: "approved" })])[0],
    ).toEqual(["approval:a1"]);
    const [item] = inbox([asks], [approval("a1", "asks")], NOW).needsYou;
    expect(item?.order).toBe(asks);
    expect(item?.reason).toBe("Open the pull request?");
    // The approval may not have been loaded yet.
    expect(sections([asks])[0]).toEqual(["order:asks"]);
    // Its order may be on another page.
    expect(inbox([], [approval("a1", "asks")], NOW).needsYou[0]?.order).toBeNull();
    // A parallel task goes on while another asks.
    expect(sections([order("asks")], [approval("a1", "asks")])).toEqual([
      ["approval:a1"],
      ["order:asks"],
      [],
      [],
    ]);
  });

  it("puts who has waited longest first", () => {
    const found = inbox(
      [],
      [
        approval("late", "x", { asked_at: daysAgo(1) }),
        approval("early", "y", { asked_at: daysAgo(2) }),
      ],
      NOW,
    );
    expect(found.needsYou.map((one) => one.approval?.approval_id)).toEqual(["early", "late"]);
  });

  it("places every order at most once, with a reason, in an order that does not depend on the input's", () => {
    const random = seeded(10);
    const statuses = [
      "pending",
      "running",
      "waiting",
      "paused",
      "completed",
      "failed",
      "cancelled",
      "odd",
    ];
    for (let round = 0; round < 200; round++) {
      const orders = Array.from({ length: 12 }, (_, at) =>
        order(`wo-${at}`, {
          status: random.pick(statuses),
          waiting_reason: random.pick([
            null,
            "approval",
            "model_quota",
            "failure: x",
            "__proto__",
            "retry:",
          ]),
          execution_completed_at: random.pick([null, daysAgo(1), daysAgo(30), "nonsense"]),
        }),
      );
      const found = inbox(orders, [], NOW);
      const items = [...found.needsYou, ...found.running, ...found.inReview, ...found.done];
      expect(items).toHaveLength(orders.length);
      expect(items.every((one) => one.reason !== "")).toBe(true);
      expect(inbox([...orders].reverse(), [], NOW)).toEqual(found);
    }
  });
});

describe("what presses", () => {
  const keys = (items: { key: string }[]) => items.map(({ key }) => key);

  it("puts the urgent first, then what expires soon, then who has waited longest", () => {
    const waiting = (id: string, priority: string) =>
      order(id, { status: "waiting", waiting_reason: "approval", priority });
    const orders = [
      waiting("old", "medium"),
      waiting("urgent", "urgent"),
      waiting("high", "high"),
      waiting("soon", "low"),
      waiting("sooner", "medium"),
      order("broken", { status: "failed", execution_completed_at: daysAgo(3) }),
    ];
    const asked = [
      approval("old", "old", { asked_at: daysAgo(4), expires_at: daysAgo(-5) }),
      approval("urgent", "urgent", { asked_at: daysAgo(0.1) }),
      approval("high", "high", { asked_at: daysAgo(0.1) }),
      approval("soon", "soon", { asked_at: daysAgo(0.2), expires_at: daysAgo(-0.9) }),
      approval("sooner", "sooner", { asked_at: daysAgo(0.1), expires_at: daysAgo(-0.1) }),
      approval("unknown", "elsewhere", { asked_at: daysAgo(3.5) }),
    ];
    expect(keys(inbox(orders, asked, NOW).needsYou)).toEqual([
      "approval:urgent",
      "approval:high",
      "approval:sooner",
      "approval:soon",
      "approval:old",
      "approval:unknown",
      "order:broken",
    ]);
  });

  it("does not come back as a failure when a person said no", () => {
    const rejected = order("no", {
      status: "failed",
      error_code: "approval_rejected",
      error_message: "ann rejected publish: not now",
      error_hint: "Change what was asked for and retry the order to ask again.",
    });
    const { needsYou, done } = inbox([rejected], [], NOW);
    expect(needsYou).toEqual([]);
    expect(done).toMatchObject([{ key: "order:no", reason: "Rejected" }]);
    expect(guidance(rejected)).toMatchObject({
      rejected: true,
      title: "Rejected",
      what: "ann rejected publish: not now",
    });
  });
});
