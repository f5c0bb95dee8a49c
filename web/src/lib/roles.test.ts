import { expect, it } from "vitest";

import { may, whyNot, type Role } from "./roles";

it.each<[Role, boolean, boolean]>([
  ["viewer", false, false],
  ["operator", true, false],
  ["approver", true, true],
  ["admin", true, true],
])("%s may operate: %s, approve: %s", (role, operate, approve) => {
  expect(may(role, "operate")).toBe(operate);
  expect(may(role, "approve")).toBe(approve);
});

it("keeps nothing away from somebody who is not known yet, or whose role is newer", () => {
  expect(may(undefined, "approve")).toBe(true);
  expect(may("auditor" as Role, "operate")).toBe(true);
});

it("says which role would do", () => {
  expect(whyNot("viewer", "operate")).toBe(
    "You are signed in as viewer. Ask an administrator for a key with the role operator.",
  );
  expect(whyNot("operator", "approve")).toContain("the role approver");
});
