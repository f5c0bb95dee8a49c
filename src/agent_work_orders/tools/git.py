"""`git.*`: the order's branch. All of it happens in the host's mirror or through the sandbox."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from agent_work_orders.errors import Permanent
from agent_work_orders.repositories import push, rebase, url
from agent_work_orders.repositories.mirrors import Mirrors
from agent_work_orders.repositories.refname import order_ref
from agent_work_orders.tools import commit_message, moved_branch
from agent_work_orders.tools.schema import fields, flag, nullable, text, texts
from agent_work_orders.tools.tool import JsonObject, Order, ToolContext
from agent_work_orders.tools.workspaces import LEFT_OUT, Workspace, Workspaces, need_changes
from agent_work_orders.workflow_engine.catalogue import ToolInfo

Knows = Callable[[str], bool]
"""Whether a text holds a secret of this server."""
SEARCHED_BYTES = 128 * 1024 * 1024
_AUTHOR = "Agent Work Orders <awo@agents.invalid>"
_HEAD = fields(head=text("The order's head after it"))


class Commit:
    info = ToolInfo(
        name="git.commit",
        summary="Commit what earlier tasks changed in the workspace",
        inputs=fields(("message",), message=text("The commit's subject")),
        outputs=fields(
            commit=nullable(text("The commit; null when nothing had changed")),
            changed=flag("Whether there was anything"),
            left_out=texts(LEFT_OUT),
        ),
    )

    def __init__(self, workspaces: Workspaces) -> None:
        self._workspaces = workspaces

    async def __call__(self, ctx: ToolContext, *, message: str) -> JsonObject:
        async with self._workspaces.own(ctx) as workspace:

            async def look() -> JsonObject | None:
                log = await workspace.mirror.log(workspace.base_sha, workspace.head_sha)
                for commit in log:
                    if commit.trailers.get(commit_message.KEY) == ctx.key:
                        return {"commit": commit.sha, "changed": True}
                imported = await _imported(workspace, ctx.key)
                if imported is None:
                    return None
                await workspace.advance(imported)
                await workspace.reset()
                return {"commit": imported, "changed": True}

            async def do() -> JsonObject:
                written = commit_message.write(
                    ctx.order, path=ctx.path, phase=ctx.phase, key=ctx.key, subject=message
                )
                sha = await workspace.commit(ctx, written, author=_AUTHOR, at_ms=ctx.now_ms())
                if sha is not None:
                    await workspace.advance(sha)
                    await workspace.reset()
                    ctx.log("git_commit_created", git_commit_sha=sha)
                left_out = workspace.left_out.words()
                return {"commit": sha, "changed": sha is not None, "left_out": left_out}

            return await ctx.once(
                f"{ctx.key}:commit",
                what="commit the workspace",
                intent={"parent": workspace.head_sha},
                look=look,
                do=do,
            )


async def _imported(workspace: Workspace, key: str) -> str | None:
    """The task's commit on the present head that was made but not put on the branch."""
    made = await workspace.mirror.refs(order_ref(workspace.order_id, "commits"))
    for sha in made.values():
        for commit in await workspace.mirror.log(workspace.head_sha, sha):
            mine = commit.sha == sha and commit.parents == (workspace.head_sha,)
            if mine and commit.trailers.get(commit_message.KEY) == key:
                return sha
    return None


class Rebase:
    info = ToolInfo(
        name="git.rebase",
        summary="Replay the order's commits on the newest base, in the mirror",
        inputs=fields(onto=text("The branch to rebase on; the order's base when absent")),
        outputs=fields(
            head=text("The order's head after it"), conflicts=texts("Files that do not merge")
        ),
    )

    def __init__(self, workspaces: Workspaces, mirrors: Mirrors) -> None:
        self._workspaces = workspaces
        self._mirrors = mirrors

    async def __call__(self, ctx: ToolContext, *, onto: str | None = None) -> JsonObject:
        async with self._workspaces.own(ctx) as workspace:
            mirror = await self._mirrors.ensure(url.again(ctx.order.repository_url))
            target = mirror.resolve_base(onto or workspace.base_branch)
            if await workspace.mirror.is_ancestor(target.sha, workspace.head_sha):
                # An attempt that was cut off has moved the head, or nothing is newer.
                if await workspace.mirror.is_ancestor(workspace.base_sha, target.sha):
                    await workspace.rebase(target.sha, workspace.head_sha)
                return {"head": workspace.head_sha, "conflicts": []}
            done = await rebase.rebase(
                workspace.mirror, base=workspace.base_sha, head=workspace.head_sha, onto=target.sha
            )
            if done.outcome == "conflict":
                files = ", ".join(done.files)
                raise Permanent(
                    "git_conflict",
                    f"The order's commits conflict with {target.branch} in {files}",
                    hint="Start a new order on the newer base, or resolve the conflict by hand.",
                    files=list(done.files),
                )
            await workspace.rebase(target.sha, done.head)
            return {"head": done.head, "conflicts": []}


def need_no_fork(order: Order) -> None:
    """Permanent `fork_not_pushed`: a stranger's words led to these commits, and a branch of the
    repository runs with its secrets."""
    if (order.github or {}).get("from_fork"):
        raise Permanent(
            "fork_not_pushed",
            "This order is about a pull request from a fork: nothing is pushed for it",
            hint="Use a workflow that only reviews, or start an order for an issue instead.",
        )


async def need_no_secret(workspace: Workspace, knows: Knows) -> None:
    """Permanent `secret_in_commits`: an agent has its model's key, and what is pushed is read by
    others. What is too large to be searched is not pushed either."""
    brought = await workspace.mirror.brought(
        workspace.base_sha, workspace.head_sha, limit_bytes=SEARCHED_BYTES
    )
    if brought.truncated:
        raise Permanent(
            "commits_too_large",
            f"The commits bring more than {SEARCHED_BYTES >> 20} MiB: too much to look for secrets",
            hint="Leave built files and data out of the commits.",
        )
    words = brought.text.decode("utf-8", "surrogateescape")
    if await asyncio.to_thread(knows, words):
        raise Permanent(
            "secret_in_commits",
            "A commit of this order holds a secret of this server: nothing is pushed",
            hint="Look at its changes, roll it back, and tell the agent to leave keys alone.",
        )


async def push_head(
    ctx: ToolContext, workspaces: Workspaces, workspace: Workspace, knows: Knows
) -> JsonObject:
    """The order's head on its branch at the origin: once per task and head. The task is part of
    the key, because a branch that was deleted by an undo is pushed again by a retry."""
    need_changes(workspace)
    order = ctx.order
    need_no_fork(order)
    await moved_branch.take_up(ctx, workspaces, workspace.mirrors, workspace)
    head = workspace.head_sha
    origin = url.again(order.repository_url)
    last = await workspace.mirror.ref(order_ref(order.order_id, "pushed"))

    async def look() -> JsonObject | None:
        at = await push.remote_head(workspace.mirror, origin, order.branch)
        return {"branch": order.branch, "head": head} if at == head else None

    async def do() -> JsonObject:
        await need_no_secret(workspace, knows)
        try:
            await push.push(workspace.mirror, origin, order.branch, head, expected=last)
        except Permanent as refusal:
            if refusal.code in moved_branch.REFUSALS:
                raise await moved_branch.ask(ctx, refusal) from refusal
            raise
        ctx.log("git_push_completed", git_branch_name=order.branch, git_commit_sha=head)
        return {"branch": order.branch, "head": head}

    receipt = await ctx.once(
        f"{ctx.key}:push:{head}",
        what="push the branch",
        intent={"branch": order.branch, "head": head},
        look=look,
        do=do,
    )
    await workspace.mirror.keep(order_ref(order.order_id, "pushed"), head)
    return receipt


class Push:
    info = ToolInfo(
        name="git.push",
        summary="Push the order's branch; never over somebody else's commits",
        inputs=fields(),
        outputs=fields(branch=text("The branch"), head=text("The commit it points to")),
        risk="medium",
        undo="git.delete_branch",
    )

    def __init__(self, workspaces: Workspaces, knows: Knows) -> None:
        self._workspaces = workspaces
        self._knows = knows

    async def __call__(self, ctx: ToolContext) -> JsonObject:
        async with self._workspaces.own(ctx) as workspace:
            return await push_head(ctx, self._workspaces, workspace, self._knows)


class DeleteBranch:
    info = ToolInfo(
        name="git.delete_branch",
        summary="Delete the order's branch at the origin, if it is still where we left it",
        inputs=fields(("branch", "head"), branch=text("The branch"), head=text("Where we left it")),
        outputs=fields(deleted=flag("Whether it was there")),
        risk="medium",
    )

    def __init__(self, mirrors: Mirrors) -> None:
        self._mirrors = mirrors

    async def __call__(self, ctx: ToolContext, *, branch: str, head: str) -> JsonObject:
        if branch != ctx.order.branch:
            raise Permanent(
                "branch_not_ours",
                f"{branch} is not this order's branch",
                hint=f"An order deletes only its own branch, {ctx.order.branch}.",
            )
        mirror = self._mirrors.at(ctx.order.repository)
        origin = url.again(ctx.order.repository_url)
        deleted = await push.delete(mirror, origin, branch, expected=head)
        return {"deleted": deleted}


class Rollback:
    info = ToolInfo(
        name="git.rollback",
        summary="Move the order's head back to an earlier commit of it, in the mirror",
        inputs=fields(("to",), to=text("A commit of the order, or `base`")),
        outputs=_HEAD,
        risk="medium",
    )

    def __init__(self, workspaces: Workspaces) -> None:
        self._workspaces = workspaces

    async def __call__(self, ctx: ToolContext, *, to: str) -> JsonObject:
        async with self._workspaces.own(ctx) as workspace:
            sha = workspace.base_sha if to == "base" else to
            log = await workspace.mirror.log(workspace.base_sha, workspace.head_sha)
            if sha not in {workspace.base_sha, *(commit.sha for commit in log)}:
                raise Permanent(
                    "commit_not_ours",
                    f"{to} is not a commit of this order",
                    hint="Give the sha of one of the order's commits, or `base`.",
                )
            await workspace.advance(sha)
            await workspace.reset()
            return {"head": sha}
