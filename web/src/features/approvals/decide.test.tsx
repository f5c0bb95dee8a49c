import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";

import { sessionKeys } from "@/api/session";
import { anApproval, aSession, refusal, testClient } from "@/api/test-fixtures";
import type { Approval } from "@/api/types";
import type { Role } from "@/lib/roles";
import { renderPage } from "@/ui/test-page";
import { Decide } from "./decide";

afterEach(() => vi.unstubAllGlobals());

async function show(role: Role, approval: Approval = anApproval()) {
  const queryClient = testClient();
  queryClient.setQueryData(sessionKeys.session(), aSession(role));
  await renderPage(<Decide approval={approval} />, queryClient);
}

it("sends the hash of what is shown, and the comment", async () => {
  const sent: unknown[] = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    sent.push([new URL(request.url).pathname, await request.json()]);
    return refusal(409, "approval_settled");
  });
  await show("approver");
  await userEvent.type(screen.getByRole("textbox", { name: /Comment/ }), " Fine by me ");
  await userEvent.click(screen.getByRole("button", { name: "Approve" }));
  expect(await screen.findByRole("alert")).toHaveTextContent("No");
  expect(sent[0]).toEqual([
    "/api/approvals/wo-1%3Aask%3A0/approve",
    { comment: "Fine by me", subject_hash: "hash" },
  ]);
  expect(within(screen.getByRole("alert")).getByText("approval_settled")).toBeInTheDocument();
});

it.each(["viewer", "operator"] as const)("asks nothing of a %s, and says why", async (role) => {
  await show(role);
  expect(screen.getByText(new RegExp(`signed in as ${role}.*role approver`))).toBeInTheDocument();
  expect(screen.queryByRole("button")).not.toBeInTheDocument();
  expect(screen.queryByRole("textbox")).not.toBeInTheDocument();
});

it("tells a viewer what was decided, and by whom", async () => {
  await show("viewer", anApproval({ state: "approved", decided_by: "<i>eve</i>", comment: "ok" }));
  expect(screen.getByText("<i>eve</i>")).toBeInTheDocument();
});

it("leads from a void question to the one that is asked now", async () => {
  const again = anApproval({ approval_id: "wo-1:ask:0.2" });
  const old = anApproval({ state: "void" });
  vi.stubGlobal("fetch", () =>
    Promise.resolve(Response.json({ approvals: [old, again] })),
  );
  await show("approver", old);
  const link = await screen.findByRole("link", { name: "See what is asked now" });
  expect(link).toHaveAttribute("href", "/approvals/wo-1%3Aask%3A0.2");
  expect(screen.queryByRole("button", { name: "Approve" })).not.toBeInTheDocument();
});
