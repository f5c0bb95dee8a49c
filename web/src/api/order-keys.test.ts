import { expect, it } from "vitest";

import { orderKeys } from "./order-keys";
import { Submission } from "./submission";

it("gives the same question the same key", () => {
  const one = orderKeys.page(
    { status: ["running", "failed", "running"], q: " x ", workflow: "" },
    2,
  );
  const other = orderKeys.page({ q: "x", status: ["failed", "running"], order: "desc" }, 2);
  expect(JSON.stringify(one)).toBe(JSON.stringify(other));
});

it("keeps different questions apart", () => {
  expect(orderKeys.page({}, 0)).not.toEqual(orderKeys.page({}, 1));
  expect(orderKeys.page({}, 0)).not.toEqual(orderKeys.page({}, 0, 10));
  expect(orderKeys.page({}, 0)).not.toEqual(orderKeys.page({ sort: "updated_at" }, 0));
  expect(orderKeys.transcript("wo-1", null)).not.toEqual(orderKeys.transcript("wo-1", "plan"));
  expect(orderKeys.logPage("wo-1", { level: "error" }, 0)).not.toEqual(
    orderKeys.logPage("wo-1", {}, 0),
  );
});

it("begins a page's key with its list's, and everything of an order with the order's", () => {
  const filter = { q: "x" };
  expect(orderKeys.page(filter, 4).slice(0, 3)).toEqual([...orderKeys.list(filter)]);
  expect(orderKeys.tasks("wo-1").slice(0, 2)).toEqual([...orderKeys.order("wo-1")]);
});

it("keeps the key of a submission until it has arrived or changed", () => {
  let made = 0;
  const submission = new Submission(() => `key-${++made}`);
  expect(submission.keyFor({ prompt: "a" })).toBe("key-1");
  expect(submission.keyFor({ prompt: "a" })).toBe("key-1");
  expect(submission.keyFor({ prompt: "b" })).toBe("key-2");
  submission.done();
  expect(submission.keyFor({ prompt: "b" })).toBe("key-3");
});
