"""A person moved the order's branch at the origin: nothing is overwritten, and they are asked.

Asking is failing with what is there now. Their retry is the answer: then the commits that the order
made since its last push are put on top of exactly what was shown. Moved again meanwhile, it is
asked again.
"""

from __future__ import annotations

from agent_work_orders.errors import Permanent
from agent_work_orders.repositories import push, rebase, url
from agent_work_orders.repositories.mirrors import Mirrors
from agent_work_orders.repositories.refname import order_ref
from agent_work_orders.tools.tool import ToolContext
from agent_work_orders.tools.workspaces import Workspace, Workspaces

MOVED = "tell of a moved branch"
REFUSALS = ("branch_exists", "remote_changed")


async def ask(ctx: ToolContext, refusal: Permanent) -> Permanent:
    """What to raise for a push that would have overwritten something."""
    theirs = str(refusal.context.get("remote_sha") or "")
    if not theirs:
        return refusal

    async def tell() -> dict[str, str]:
        return {"sha": theirs}

    # What was said, so that a retry is known to be the answer to it.
    await ctx.once(
        f"{ctx.key}:moved:{theirs}",
        what=MOVED,
        intent={"sha": theirs, "task": ctx.path, "key": ctx.key},
        look=tell,
        do=tell,
    )
    branch = ctx.order.branch
    if refusal.code == "branch_exists":
        return Permanent(
            "branch_exists",
            f"Somebody made the branch {branch}: it is at {theirs[:12]}, and nothing was "
            "overwritten",
            hint="Retry the order to put its commits on top of that; or create a new order with "
            "that branch as its base, which gets a branch of its own.",
            remote_sha=theirs,
        )
    return Permanent(
        "remote_changed",
        f"Somebody moved the branch {branch}: it is at {theirs[:12]} now, and nothing was "
        "overwritten",
        hint="Retry the order to put its later commits on top of that; or create a new order with "
        "that branch as its base, which gets a branch of its own.",
        remote_sha=theirs,
    )


async def take_up(
    ctx: ToolContext, workspaces: Workspaces, mirrors: Mirrors, workspace: Workspace
) -> None:
    """On top of what a person was shown and retried the order for. Permanent `git_conflict`."""
    shown = [
        str(entry.intent["sha"])
        for entry in await ctx.written(MOVED)
        if entry.intent["task"] == ctx.path and entry.intent["key"] != ctx.key
    ]
    if not shown:
        return
    order, mirror = ctx.order, workspace.mirror
    origin = url.again(order.repository_url)
    theirs = await push.remote_head(mirror, origin, order.branch)
    if theirs is None or theirs not in shown:
        return
    fetched = await mirrors.ensure(origin)
    if await mirror.is_ancestor(theirs, workspace.head_sha):
        return
    since = await mirror.ref(order_ref(order.order_id, "pushed")) or workspace.base_sha
    if not await mirror.is_ancestor(since, workspace.head_sha):
        since = workspace.base_sha
    done = await rebase.rebase(mirror, base=since, head=workspace.head_sha, onto=theirs)
    if done.outcome == "conflict":
        files = ", ".join(done.files)
        raise Permanent(
            "git_conflict",
            f"The order's commits conflict with what is on {order.branch} now, in {files}",
            hint=f"Create a new order with {order.branch} as its base, or take the commits that "
            "are in the way off the branch and retry.",
            files=list(done.files),
        )
    target = fetched.resolve_base(workspace.base_branch)
    base = await mirror.merge_base(target.sha, theirs) or workspace.base_sha
    await workspace.rebase(base, done.head)
    # Who approved something else is asked about what is there now.
    await workspaces.need_approved(ctx)
