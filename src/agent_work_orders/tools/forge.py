"""`forge.*`: offer the order's branch for review, and take it back."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from agent_work_orders.errors import Permanent, Refused
from agent_work_orders.github_integration.forge import Proposal, PullRequest, Repository
from agent_work_orders.github_integration.forges import Forges, ServedRepository
from agent_work_orders.repositories.mirrors import Mirrors
from agent_work_orders.sandbox_manager.sandbox import Sandbox
from agent_work_orders.tools import commit_message
from agent_work_orders.tools.git import DeleteBranch, Knows, push_head
from agent_work_orders.tools.offered import (
    CLOSING,
    OPENING,
    Offered,
    find,
    is_merged,
    key_of,
    offered,
)
from agent_work_orders.tools.schema import fields, flag, integer, text
from agent_work_orders.tools.tool import JsonObject, ToolContext
from agent_work_orders.tools.workspaces import Workspace, Workspaces
from agent_work_orders.workflow_engine.catalogue import ToolInfo

SUMMARY_FILE = ".claude-pr-summary.md"
SUMMARY_LIMIT_BYTES = 65_536


class OpenPullRequest:
    info = ToolInfo(
        name="forge.open_pull_request",
        summary="Push the branch and open a pull request (a review bundle for a plain repository)",
        inputs=fields(
            title=text("Its title; from the agent's summary or the order when absent"),
            body=text("Its body; the agent's summary when absent. Facts of the order follow it"),
            draft=flag("Open it as a draft; ready where there are no drafts", default=False),
            needs_draft=flag("Fail where there are no drafts", default=False),
            tests={
                "type": ["object", "null"],
                "description": "Outputs of the last tests.run, shown as evidence",
            },
        ),
        outputs=fields(
            number=integer("Its number"),
            url=text("Where it is"),
            branch=text("Its branch"),
            head=text("Its head commit"),
            draft=flag("Whether it is a draft"),
        ),
        risk="medium",
        undo="forge.close_pull_request",
    )

    def __init__(
        self, workspaces: Workspaces, forges: Forges, redact: Callable[[str], str], knows: Knows
    ) -> None:
        self._workspaces = workspaces
        self._forges = forges
        self._redact = redact
        self._knows = knows

    async def __call__(
        self,
        ctx: ToolContext,
        *,
        title: str = "",
        body: str = "",
        draft: bool = False,
        needs_draft: bool = False,
        tests: JsonObject | None = None,
    ) -> JsonObject:
        async with self._workspaces.own(ctx) as workspace:
            place = self._forges.at(ctx.order.repository, ctx.order.repository_url)
            known = await offered(ctx)
            if known.number is not None or known.doubtful:
                now = await find(ctx, place, known)
                if now is not None and await is_merged(now, known, workspace):
                    return _outputs(_receipt(now, ctx.order.branch, workspace.head_sha))
            await push_head(ctx, self._workspaces, workspace, self._knows)
            proposal = await self._proposal(
                ctx, workspace, place.repository, title=title, body=body, draft=draft, tests=tests
            )
            offer = _Offer(ctx, place, workspace, proposal, known)
            return _outputs(await offer.bring(needs_draft=needs_draft))

    async def _proposal(
        self,
        ctx: ToolContext,
        workspace: Workspace,
        repository: Repository,
        *,
        title: str,
        body: str,
        draft: bool,
        tests: JsonObject | None,
    ) -> Proposal:
        order = ctx.order
        said_title, said_body = map(self._redact, await agent_summary(workspace.sandbox))
        stat = await workspace.mirror.diff_stat(workspace.base_sha, workspace.head_sha)
        log = await workspace.mirror.log(workspace.base_sha, workspace.head_sha)
        evidence: JsonObject = {
            "files_changed": stat.files_changed,
            "lines_added": stat.lines_added,
            "lines_removed": stat.lines_removed,
            "commits": [{"sha": commit.sha, "subject": commit.subject} for commit in log],
            "tests": tests,
            "scripted_agent": order.agent.get("name") == "scripted",
        }
        return Proposal(
            order_id=order.order_id,
            repository=repository,
            title=self._redact(commit_message.title(order, title or said_title)),
            body=self._redact(body) or said_body,
            facts=_facts(ctx, evidence),
            head_branch=order.branch,
            base_branch=workspace.base_branch,
            head_sha=workspace.head_sha,
            base_sha=workspace.base_sha,
            draft=draft,
            evidence=evidence,
            closes=int(order.github_issue_number) if order.github_issue_number else None,
        )


class _Offer:
    """Opens the order's pull request, or brings the one that it has up to date."""

    def __init__(
        self,
        ctx: ToolContext,
        place: ServedRepository,
        workspace: Workspace,
        proposal: Proposal,
        known: Offered,
    ) -> None:
        self._ctx = ctx
        self._place = place
        self._workspace = workspace
        self._proposal = proposal
        self._known = known
        self._key = key_of(ctx.order.order_id)

    async def bring(self, *, needs_draft: bool) -> JsonObject:
        async def do() -> JsonObject:
            # Not every server refuses a second one.
            present = await self._present(self._known)
            return present or await self._open(needs_draft)

        texts = self._place.forge.texts(self._proposal, self._key)
        return await self._ctx.once(
            f"{self._ctx.key}:pull_request",
            what=OPENING,
            intent={
                "title": self._proposal.title,
                "head": self._proposal.head_sha,
                "texts": msgspec.to_builtins(texts),
            },
            look=self._look,
            do=do,
        )

    async def _look(self) -> JsonObject | None:
        return await self._present(msgspec.structs.replace(self._known, doubtful=True))

    async def _present(self, known: Offered) -> JsonObject | None:
        """The one that is there, brought up to date."""
        found = await find(self._ctx, self._place, known)
        if found is None:
            return None
        if not await is_merged(found, known, self._workspace):
            found = await self._place.forge.update_pull_request(
                found.number,
                self._proposal,
                self._key,
                ours=known.texts,
                ready=not known.was_ready,
            )
        return self._received(found)

    async def _open(self, needs_draft: bool) -> JsonObject:
        forge, proposal = self._place.forge, self._proposal
        try:
            opened = await forge.open_pull_request(proposal, self._key)
        except Permanent as refusal:
            if refusal.code == "pull_request_exists":
                # What was made a moment ago may not have been listed yet.
                present = await self._look()
                if present is None:
                    raise
                return present
            if refusal.code != "drafts_unsupported" or needs_draft:
                raise
            ready = msgspec.structs.replace(proposal, draft=False)
            opened = await forge.open_pull_request(ready, self._key)
        self._ctx.log("github_pull_request_created", pull_request_url=opened.url)
        return self._received(opened)

    def _received(self, pull: PullRequest) -> JsonObject:
        texts = self._place.forge.texts(self._proposal, self._key)
        receipt = _receipt(pull, self._proposal.head_branch, self._proposal.head_sha)
        return {**receipt, "texts": msgspec.to_builtins(texts)}


class ClosePullRequest:
    info = ToolInfo(
        name="forge.close_pull_request",
        summary="Close a pull request that this order opened, and delete its branch",
        inputs=fields(
            ("number",),
            number=integer("Its number"),
            branch=text("The order's branch, to delete it too"),
            head=text("Where we left that branch"),
        ),
        outputs=fields(closed=flag("Always true")),
        risk="medium",
    )

    def __init__(self, forges: Forges, mirrors: Mirrors) -> None:
        self._forges = forges
        self._delete_branch = DeleteBranch(mirrors)

    async def __call__(
        self, ctx: ToolContext, *, number: int, branch: str | None = None, head: str | None = None
    ) -> JsonObject:
        order, known = ctx.order, await offered(ctx)
        place = self._forges.at(order.repository, order.repository_url)
        mine = None if number in known.closed else known.number
        if mine is None:
            found = await place.forge.find_pull_request(
                place.repository, key_of(order.order_id), order.branch
            )
            mine = None if found is None else found.number
        if mine != number:
            raise Permanent(
                "pull_request_not_ours",
                f"This order did not open #{number}",
                hint="An order closes only its own pull request; close that one by hand.",
            )

        async def close() -> JsonObject:
            reason = f"rolled back with {order.order_id}"
            await place.forge.close_pull_request(place.repository, number, reason)
            return {"number": number}

        # Remembered, so that the order knows later that this was no person's decision.
        await ctx.once(
            f"{ctx.key}:close:{number}",
            what=CLOSING,
            intent={"number": number},
            look=close,
            do=close,
        )
        if branch is not None and head is not None:
            await self._delete_branch(ctx, branch=branch, head=head)
        return {"closed": True}


async def agent_summary(sandbox: Sandbox) -> tuple[str, str]:
    """Title and body that the agent left in its summary file. Data: shown, never interpreted."""
    try:
        content = await sandbox.read_file(SUMMARY_FILE, limit_bytes=SUMMARY_LIMIT_BYTES)
    except Refused:
        return "", ""
    first, _, rest = content.decode("utf-8", "replace").strip().partition("\n")
    return first.lstrip("# ").strip(), rest.strip()


def _facts(ctx: ToolContext, evidence: JsonObject) -> str:
    order, tests = ctx.order, evidence["tests"]
    lines = [f"Work order `{order.order_id}`, workflow `{order.workflow}`."]
    if evidence["scripted_agent"]:
        lines.append("The agent was **scripted**: no model was involved.")
    files, added, removed = (
        evidence["files_changed"],
        evidence["lines_added"],
        evidence["lines_removed"],
    )
    lines.append(f"{files} files changed, {added} lines added, {removed} removed.")
    lines += _of_tests(tests)
    if ctx.spent_usd:
        lines.append(f"It has cost ${ctx.spent_usd:.2f} so far.")
    return "\n\n".join(lines)


def _of_tests(tests: JsonObject | None) -> list[str]:
    """What stands behind the change, in words that nobody can overlook."""
    given = tests or {}
    first = (str(given.get("summary") or "").splitlines() or ["no tests were run"])[0]
    total, failed = given.get("total") or 0, given.get("failed") or 0
    skipped = given.get("skipped") or 0
    if given.get("passed"):
        said = f"Tests passed: {total - skipped} run, {failed} failed, {skipped} skipped."
    elif not given.get("found") or given.get("verdict") == "unverified":
        said = f"**Unverified**: {first}."
    else:
        # None failed where some are missing, or the command ended badly: the words say which.
        counts = f"{failed} of {total} failed. " if failed else ""
        said = f"Tests did **NOT** pass: {counts}{first}"
    changes = [str(change) for change in given.get("changes") or ()]
    if changes:
        said += "\n\nWhat decides about the tests was changed:\n\n"
        said += "\n".join(f"- {change}" for change in changes)
    return [said]


def _receipt(pull: PullRequest, branch: str, head: str) -> JsonObject:
    return {
        "number": pull.number,
        "url": pull.url,
        "branch": branch,
        "head": head,
        "draft": pull.state == "draft",
    }


def _outputs(receipt: JsonObject) -> JsonObject:
    """What people and tasks see of it."""
    return {name: receipt[name] for name in OpenPullRequest.info.outputs["properties"]}
