"""The workspace of an order: its mirror, its base, its sandbox, and who may use it when.

The base is resolved once per order and remembered in the ledger; the order's head is a ref in the
mirror that only the tools here move. Tasks that change the workspace have it to themselves; tasks
that only run something in it share it. Commits are tested in workspaces apart, which no agent ever
enters (`testing`).
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import msgspec

from agent_work_orders.errors import Broken, Conflict, Failed, Permanent
from agent_work_orders.repositories import url
from agent_work_orders.repositories.mirror import Mirror
from agent_work_orders.repositories.mirrors import Mirrors
from agent_work_orders.repositories.refname import order_ref
from agent_work_orders.sandbox_manager.sandbox import LeftOut, Sandbox, Sandboxes, Spec
from agent_work_orders.sandbox_manager.sandbox_types import SandboxType
from agent_work_orders.tools import commit_message, order_branch
from agent_work_orders.tools.tool import JsonObject, Order, ToolContext

LEFT_OUT = "What builds and tests left behind and was not committed: the first names"
AUTHOR = "agent <agent@localhost>"
# How snapshots begin that keep a task's unfinished files, or those of a removed sandbox.
UNFINISHED = "unfinished-"
REMOVED = "removed-"
# As many tasks of one order test at once; each takes a whole checkout.
MOST_TESTING = 4
# One is enough unless a task that changes the workspace fails in the moment between making it and
# sharing it; then it is not let go of any more.
TRIES_TO_SHARE = 3


class Workspace(msgspec.Struct, kw_only=True):
    mirrors: Mirrors
    mirror: Mirror
    sandbox: Sandbox
    base_branch: str
    base_sha: str
    head_sha: str
    order_id: str
    doubtful: bool = False
    """The last task that owned it did not end well: a step that was cut off may have been done,
    so its head is read again."""
    spoiled: bool = False
    """Its files are not what the next task may build on: half of an agent's work, another
    commit."""

    left_out: LeftOut = LeftOut()
    """What the last commit did not take: leftovers of builds and tests."""

    async def commit(
        self, ctx: ToolContext, message: str, *, author: str, at_ms: int
    ) -> str | None:
        """What changed, on the order's head; the log names what was left out."""
        self.left_out = LeftOut()

        def note(found: LeftOut) -> None:
            self.left_out = found

        sha = await self.sandbox.commit(message, author=author, at_ms=at_ms, left_out=note)
        if self.left_out.count:
            names = list(self.left_out.names)
            ctx.log("changes_left_out", count=self.left_out.count, names=names)
        return sha

    async def advance(self, sha: str) -> None:
        """Move the order's head; Broken when somebody else has moved it."""
        name = order_ref(self.order_id, "head")
        try:
            # Before the first commit there is no reference; after a roll back to the base there is.
            expected = None if self.head_sha == self.base_sha else self.head_sha
            await self.mirror.set_ref(name, sha, old=expected)
        except Conflict as moved:
            at = await self.mirror.ref(name)
            if (at or self.base_sha) != self.head_sha:
                said = f"{name} is at {at}, not at {self.head_sha}"
                raise Broken("order_head_moved", said) from moved
            await self.mirror.set_ref(name, sha, old=at)
        self.head_sha = sha
        await self._note()

    async def rebase(self, base_sha: str, head_sha: str) -> None:
        """The order stands on a newer base. The head moves first: after a crash in between, the
        next attempt finds the new base below the head and only moves the base."""
        if head_sha != self.head_sha:
            await self.advance(head_sha)
        await self.mirror.keep(order_ref(self.order_id, "base"), base_sha)
        self.base_sha = base_sha
        await self._note()
        await self.reset()

    async def _note(self) -> None:
        """After the mirror: what it must have is never more than what it has."""
        at = (self.mirror.key, self.order_id, self.base_sha, self.head_sha)
        await order_branch.note(self.mirrors, *at)

    async def reset(self) -> None:
        """The workspace as of the order's head."""
        await self.sandbox.checkout(self.head_sha)
        self.spoiled = False

    async def take_up(self, work: str, begin_anew: Callable[[], None]) -> bool:
        """Begin a task's work, or go on with it; its name (`work_of`) says whose files these are
        from now on, also after a crash. True: they are as that same task had left them. Else
        `begin_anew` is called before they are the task's."""
        if await self.sandbox.holder() == work:
            return True
        kept = await self._kept(work)
        await self.sandbox.checkout(self.head_sha, files=kept)
        self.spoiled = False
        if kept is None:
            begin_anew()
        await self.sandbox.hold(work)
        return kept is not None

    async def set_aside(self, work: str) -> str:
        """Keep a task's unfinished files in the mirror, to be taken up by that task only, and only
        where it stood: on the order's present head. The workspace stays as it is."""
        sha = await self.sandbox.snapshot(unfinished_label(work))
        commits = await self.mirror.log(self.head_sha, sha)
        if len(commits) > 1 and commits[-1].parents[:1] == (self.head_sha,):
            # It was committed already, and the order's head was not moved to it yet.
            tree, at_ms = await self.mirror.tree_of(sha), commits[0].at_ms
            sha = await self.mirror.commit_tree(
                tree, [self.head_sha], "Unfinished work\n", author=AUTHOR, at_ms=at_ms
            )
            await self.mirror.keep(self._reference(work), sha)
        return sha

    async def release(self, work: str) -> None:
        """The work is done or given up: nobody goes on with it."""
        await self.mirror.delete_refs(self._reference(work))
        await self.sandbox.hold("")
        self.spoiled = False

    async def _kept(self, work: str) -> str | None:
        """Unfinished work that fits on the head; what the head has left behind does not."""
        sha = await self.mirror.ref(self._reference(work))
        if sha is None:
            return None
        commits = await self.mirror.log(self.head_sha, sha)
        fits = len(commits) == 1 and commits[0].parents[:1] == (self.head_sha,)
        return sha if fits else None

    def _reference(self, work: str) -> str:
        return order_ref(self.order_id, "snapshots", unfinished_label(work))


class Workspaces:
    def __init__(self, mirrors: Mirrors, sandboxes: Sandboxes) -> None:
        self._mirrors = mirrors
        self._sandboxes = sandboxes
        self._open: dict[str, Workspace] = {}

    @asynccontextmanager
    async def own(self, ctx: ToolContext) -> AsyncIterator[Workspace]:
        """The workspace for a task that changes it."""
        async with self._sandboxes.locks.alone(ctx.order.order_id):
            workspace = await self._get(ctx)
            await self.need_approved(ctx)
            workspace.doubtful = True
            yield workspace
            workspace.doubtful = False

    @asynccontextmanager
    async def share(self, ctx: ToolContext) -> AsyncIterator[Workspace]:
        """The workspace for a task that only runs something in it."""
        order_id, locks = ctx.order.order_id, self._sandboxes.locks
        for _ in range(TRIES_TO_SHARE):
            async with locks.shared(order_id):
                found = await self._whole(order_id)
                if found is not None:
                    await self.need_approved(ctx)
                    yield found
                    return
            async with locks.alone(order_id):
                await self._get(ctx)
        async with locks.alone(order_id):
            workspace = await self._get(ctx)
            await self.need_approved(ctx)
            yield workspace

    @asynccontextmanager
    async def testing(self, ctx: ToolContext) -> AsyncIterator[Workspace]:
        """A workspace to test commits in: no agent was ever there, and the task has it to itself.
        Its files are those of whatever was tested there last, so check out first."""
        order_id, locks = ctx.order.order_id, self._sandboxes.locks
        names = [f"{order_id}.tests-{number}" for number in range(1, MOST_TESTING + 1)]
        name = min(names, key=locks.users)
        async with locks.alone(name):
            await self.need_approved(ctx)
            yield await self._tested_in(ctx, name)

    async def need_approved(self, ctx: ToolContext) -> None:
        """Permanent `approval_outdated` when the order's head is not what the person who approved
        the task was shown. Whoever has the workspace can rely on it until they leave it."""
        if ctx.approved_head is None:
            return
        head = await order_branch.head_of(self._mirrors, ctx.order.repository, ctx.order.order_id)
        if head == ctx.approved_head:
            return
        mirror = self._mirrors.at(ctx.order.repository)
        since = ctx.approved_head or str((await self.base(ctx))["base_sha"])
        moved = await mirror.log(since, head) if head else []
        if moved and all(commit.trailers.get(commit_message.KEY) == ctx.key for commit in moved):
            return  # the task's own commit, of an attempt that was cut off
        raise Permanent(
            "approval_outdated",
            f"The order's branch moved to {head[:12] or 'its base'} after it was approved at "
            f"{ctx.approved_head[:12] or 'its base'}",
            hint="Nothing was done; it is asked again, about what is there now.",
        )

    async def close(self, order_id: str) -> bool:
        """The order ended: its sandboxes go, its commits stay in the mirror. False when it had
        none."""
        closed = False
        for name in [name for name in self._open if name.partition(".")[0] == order_id]:
            async with self._sandboxes.locks.alone(name):
                workspace = self._open.pop(name, None)
                if workspace is not None:
                    await workspace.sandbox.cleanup()
                    closed = True
        # What a server before this one had opened, and nobody needed since.
        return await self._sandboxes.discard(order_id) or closed

    async def sandbox(self, name: str) -> Sandbox | None:
        """The one of that name, as tasks use it; None when there is none."""
        order_id, _, part = name.partition(".")
        if not (await self._sandboxes.state(order_id, part)).exists:
            return None
        found = self._open.get(name)
        return await self._sandboxes.found(order_id, part) if found is None else found.sandbox

    def forget(self, name: str) -> None:
        """Somebody who has it alone removes it."""
        self._open.pop(name, None)

    async def _ready(self, name: str) -> Workspace | None:
        """The open workspace, if it can be used as it is; one that was removed is made anew."""
        found = self._open.get(name)
        order_id, _, part = name.partition(".")
        if found is None or found.doubtful:
            return None
        return found if (await self._sandboxes.state(order_id, part)).exists else None

    async def _whole(self, order_id: str) -> Workspace | None:
        """The same, unless its commits went with the mirror."""
        found = await self._ready(order_id)
        if found is None or not self._mirrors.stored(found.mirror.key):
            return None
        return None if await found.mirror.lacks([found.head_sha]) else found

    async def _tested_in(self, ctx: ToolContext, name: str) -> Workspace:
        base = await self.base(ctx)
        base_sha, head = await order_branch.found(
            self._mirrors, ctx.order.repository_url, ctx.order.order_id, str(base["base_sha"])
        )
        found = await self._ready(name)
        if found is None:
            sandbox = self._sandboxes.open(spec_of(ctx.order, base, head, name.partition(".")[2]))
            await sandbox.setup()
            found = Workspace(
                mirrors=self._mirrors,
                mirror=self._mirrors.at(ctx.order.repository),
                sandbox=sandbox,
                base_branch=str(base["base_branch"]),
                base_sha=base_sha,
                head_sha=head,
                order_id=ctx.order.order_id,
            )
            self._open[name] = found
        found.base_sha, found.head_sha = base_sha, head
        return found

    async def _get(self, ctx: ToolContext) -> Workspace:
        order = ctx.order
        found = await self._whole(order.order_id)
        if found is not None:
            return found
        base = await self.base(ctx)
        mirror, base_sha, head = await order_branch.restored(
            self._mirrors, order.repository_url, order.order_id, str(base["base_sha"])
        )
        before = self._open.get(order.order_id)
        adopted = (await self._sandboxes.state(order.order_id)).exists
        sandbox = self._sandboxes.open(spec_of(ctx.order, base, head))
        await sandbox.setup()
        workspace = Workspace(
            mirrors=self._mirrors,
            mirror=mirror,
            sandbox=sandbox,
            base_branch=str(base["base_branch"]),
            base_sha=base_sha,
            head_sha=head,
            order_id=order.order_id,
        )
        # What earlier tasks changed and nobody committed yet is theirs to keep over a restart.
        spoiled = before is not None and before.spoiled
        moved = adopted and await sandbox.head() != head
        holder = await sandbox.holder() if adopted else ""
        if holder and (moved or holder != work_of(ctx)):
            # Half of an agent's work is for that agent's next attempt, and for nobody else.
            try:
                await workspace.set_aside(holder)
            except Failed as error:
                # Files that cannot be read must not stop who comes after.
                ctx.log("evidence_not_kept", level="warning", error=str(error))
            await workspace.reset()
        elif not holder and (spoiled or moved):
            await workspace.reset()
        self._open[order.order_id] = workspace
        if before is not None:
            return workspace
        if not adopted and head == base_sha:
            ctx.log("git_branch_created", git_branch_name=order.branch, base_sha=base_sha)
        ctx.log(
            "sandbox_created",
            sandbox_identifier=sandbox.sandbox_identifier,
            sandbox_type=order.sandbox_type,
            git_branch_name=order.branch,
        )
        return workspace

    async def base(self, ctx: ToolContext) -> JsonObject:
        """Where the order starts: fetched and resolved once, then always the same."""
        order = ctx.order

        async def resolve() -> JsonObject:
            mirror = await self._mirrors.ensure(url.again(order.repository_url))
            base = mirror.resolve_base(order.base_branch)
            return {"base_branch": base.branch, "base_sha": base.sha}

        async def nothing() -> JsonObject | None:
            return None

        return await ctx.once(
            f"{order.order_id}:base",
            what="resolve the base commit",
            intent={"repository": order.repository, "base_branch": order.base_branch},
            look=nothing,
            do=resolve,
        )


def spec_of(order: Order, base: JsonObject, sha: str, part: str = "") -> Spec:
    """`base` as the ledger has it."""
    return Spec(
        order_id=order.order_id,
        part=part,
        sandbox_type=msgspec.convert(order.sandbox_type, SandboxType),
        repository=order.repository,
        base_sha=sha,
        branch=order.branch,
        base_branch=str(base["base_branch"]),
        started_from=str(base["base_sha"]),
        origin=_local(order.repository_url),
    )


def _local(address: str) -> str:
    """The path of a repository on this machine, else nothing."""
    origin = url.again(address)
    return origin.url if origin.kind == "path" else ""


def work_of(ctx: ToolContext) -> str:
    """Whose work it is: the same over attempts, restarts and a person's retries."""
    return f"{ctx.run_id}:{ctx.path}"


def unfinished_label(work: str) -> str:
    """A name for it; paths may be longer than a reference's part."""
    return f"{UNFINISHED}{hashlib.sha256(work.encode()).hexdigest()[:16]}"


def need_changes(workspace: Workspace) -> None:
    if workspace.head_sha == workspace.base_sha:
        raise Permanent(
            "no_changes",
            "The order has no commit: no agent changed a file",
            hint="Read the transcript; say more precisely what to change and retry.",
        )
