"""`github.*`: what the order says about an issue, a pull request or a commit.

What creates something is keyed by what it is, not by the attempt: an order has one comment of a
name, one check of a name on a commit, one review for each task.
"""

from __future__ import annotations

from typing import Any

from agent_work_orders.errors import NotFound
from agent_work_orders.tools.hub_tool import HEAD, NUMBER, HubTool, head_of, number_of, remembered
from agent_work_orders.tools.schema import fields, flag, integer, nullable, text, texts
from agent_work_orders.tools.tool import JsonObject, ToolContext
from agent_work_orders.workflow_engine.catalogue import ToolInfo

REACTIONS = ["+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"]


class Comment(HubTool):
    info = ToolInfo(
        name="github.comment",
        summary="Write a comment, or edit the one of this order that has the name",
        inputs=fields(
            ("body",),
            number=NUMBER,
            body=text("What to say"),
            name=text("Which of the order's comments", default="comment"),
        ),
        outputs=fields(
            comment_id=integer("Its id"),
            url=text("Where it is"),
            deleted=flag("Whether somebody deleted it: then it is not written again"),
        ),
        risk="medium",
    )

    async def __call__(
        self, ctx: ToolContext, *, number: int | None = None, body: str, name: str = "comment"
    ) -> JsonObject:
        hub, repository = self._at(ctx)
        about, said = number_of(ctx.order, number), self._redact(body)
        key = f"{ctx.order.order_id}:comment:{name}:{about}"
        made: list[int] = []

        async def look() -> JsonObject | None:
            found = await hub.find_comment(repository, about, key)
            return None if found is None else {"comment_id": found.comment_id, "url": found.url}

        async def do() -> JsonObject:
            added = await hub.add_comment(repository, about, said, key)
            made.append(added.comment_id)
            return {"comment_id": added.comment_id, "url": added.url}

        receipt = await ctx.once(
            key, what="write a comment", intent={"number": about}, look=look, do=do
        )
        if not made:
            try:
                await hub.edit_comment(repository, int(receipt["comment_id"]), said, key)
            except NotFound:
                return {**receipt, "deleted": True}
        return {**receipt, "deleted": False}


class Label(HubTool):
    info = ToolInfo(
        name="github.label",
        summary="Add and remove labels",
        inputs=fields(
            number=NUMBER, add=texts("Labels to add"), remove=texts("Labels to take away")
        ),
        outputs=fields(
            number=integer("The issue or pull request"),
            added=texts("Those that were not there before"),
            removed=texts("Those that were there before"),
        ),
        undo="github.restore_labels",
    )

    async def __call__(
        self,
        ctx: ToolContext,
        *,
        number: int | None = None,
        add: list[str] | None = None,
        remove: list[str] | None = None,
    ) -> JsonObject:
        hub, repository = self._at(ctx)
        about = number_of(ctx.order, number)

        async def plan() -> JsonObject:
            before = {name.lower() for name in (await hub.issue(repository, about)).labels}
            return {
                "number": about,
                "added": [name for name in add or [] if name.lower() not in before],
                "removed": [name for name in remove or [] if name.lower() in before],
            }

        planned = await remembered(ctx, "labels", plan)
        await hub.set_labels(repository, about, add=planned["added"], remove=planned["removed"])
        return planned


class RestoreLabels(HubTool):
    info = ToolInfo(
        name="github.restore_labels",
        summary="Take back what github.label changed",
        inputs=fields(
            ("number", "added", "removed"),
            number=integer("The issue or pull request"),
            added=texts("What was added"),
            removed=texts("What was removed"),
        ),
        outputs=fields(restored=flag("Always true")),
    )

    async def __call__(
        self, ctx: ToolContext, *, number: int, added: list[str], removed: list[str]
    ) -> JsonObject:
        hub, repository = self._at(ctx)
        await hub.set_labels(repository, number, add=removed, remove=added)
        return {"restored": True}


class IssueState(HubTool):
    info = ToolInfo(
        name="github.issue_state",
        summary="Close or reopen an issue",
        inputs=fields(("state",), number=NUMBER, state=text("Which", enum=["open", "closed"])),
        outputs=fields(
            number=integer("The issue"),
            state=text("What it was before: given to this tool it takes it back"),
        ),
        risk="medium",
        undo="github.issue_state",
    )

    async def __call__(
        self, ctx: ToolContext, *, number: int | None = None, state: str
    ) -> JsonObject:
        hub, repository = self._at(ctx)
        about = number_of(ctx.order, number)
        known: Any = state

        async def read() -> JsonObject:
            return {"number": about, "state": (await hub.issue(repository, about)).state}

        before = await remembered(ctx, "issue_state", read)
        await hub.update_issue(repository, about, state=known)
        return before


class React(HubTool):
    info = ToolInfo(
        name="github.react",
        summary="React to an issue, a pull request or a comment",
        inputs=fields(
            ("reaction",),
            number=NUMBER,
            reaction=text("Which", enum=REACTIONS),
            comment_id=nullable(integer("One of its comments, instead of the whole")),
        ),
        outputs=fields(reaction=text("The reaction")),
    )

    async def __call__(
        self,
        ctx: ToolContext,
        *,
        number: int | None = None,
        reaction: str,
        comment_id: int | None = None,
    ) -> JsonObject:
        hub, repository = self._at(ctx)
        known: Any = reaction
        await hub.react(repository, number_of(ctx.order, number), known, comment_id)
        return {"reaction": reaction}


class Status(HubTool):
    info = ToolInfo(
        name="github.status",
        summary="Set the status of a commit",
        inputs=fields(
            ("state", "description"),
            head_sha=HEAD,
            context=text("Whose status it is", default="agent-work-orders"),
            state=text("How it stands", enum=["error", "failure", "pending", "success"]),
            description=text("One line, at most 140 characters"),
        ),
        outputs=fields(head_sha=text("The commit"), state=text("How it stands")),
        risk="medium",
    )

    async def __call__(
        self,
        ctx: ToolContext,
        *,
        head_sha: str | None = None,
        context: str = "agent-work-orders",
        state: str,
        description: str,
    ) -> JsonObject:
        hub, repository = self._at(ctx)
        sha = head_of(ctx.order, head_sha)
        known: Any = state
        await hub.set_status(
            repository, sha, context=context, state=known, description=self._redact(description)
        )
        return {"head_sha": sha, "state": state}
