"""`github.*` for those who run a repository: ready, merge, workflows, protection, settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_work_orders.errors import Permanent
from agent_work_orders.tools.hub_tool import NUMBER, HubTool, head_of, number_of, remembered
from agent_work_orders.tools.schema import fields, flag, integer, nullable, text
from agent_work_orders.tools.tool import JsonObject, ToolContext
from agent_work_orders.workflow_engine.catalogue import ToolInfo

_METHOD = text("How", enum=["merge", "squash", "rebase"], default="squash")


class Ready(HubTool):
    info = ToolInfo(
        name="github.ready",
        summary="Make a draft pull request ready for review",
        inputs=fields(number=NUMBER),
        outputs=fields(
            number=integer("The pull request"), url=text("Where it is"), state=text("Its state")
        ),
        risk="medium",
    )

    async def __call__(self, ctx: ToolContext, *, number: int | None = None) -> JsonObject:
        hub, repository = self._at(ctx)
        pull = await hub.mark_ready(repository, number_of(ctx.order, number))
        return {"number": pull.number, "url": pull.url, "state": pull.state}


class Merge(HubTool):
    info = ToolInfo(
        name="github.merge",
        summary="Merge a pull request as it was looked at; never past a protection",
        inputs=fields(
            ("head_sha",),
            number=NUMBER,
            head_sha=text("The head that was looked at; another one is not merged"),
            method=_METHOD,
        ),
        outputs=fields(number=integer("The pull request"), commit=text("The merge commit")),
        risk="high",
    )

    async def __call__(
        self,
        ctx: ToolContext,
        *,
        number: int | None = None,
        head_sha: str,
        method: str = "squash",
    ) -> JsonObject:
        hub, repository = self._at(ctx)
        about, sha = number_of(ctx.order, number), head_of(ctx.order, head_sha)
        how: Any = method

        async def do() -> JsonObject:
            """One that is merged already is found merged."""
            commit = await hub.merge(repository, about, head_sha=sha, method=how)
            return {"number": about, "commit": commit}

        async def look() -> JsonObject | None:
            merged = (await hub.pull_request(repository, about)).state == "merged"
            return await do() if merged else None

        return await ctx.once(
            f"{ctx.key}:merge",
            what="merge a pull request",
            intent={"number": about, "head_sha": sha},
            look=look,
            do=do,
        )


class AutoMerge(HubTool):
    info = ToolInfo(
        name="github.auto_merge",
        summary="Let GitHub merge a pull request once everything required has passed",
        inputs=fields(number=NUMBER, method=_METHOD),
        outputs=fields(number=integer("The pull request")),
        risk="high",
    )

    async def __call__(
        self, ctx: ToolContext, *, number: int | None = None, method: str = "squash"
    ) -> JsonObject:
        hub, repository = self._at(ctx)
        about = number_of(ctx.order, number)
        how: Any = method
        await hub.enable_auto_merge(repository, about, how)
        return {"number": about}


class Dispatch(HubTool):
    info = ToolInfo(
        name="github.dispatch",
        summary="Start a workflow of GitHub Actions",
        inputs=fields(
            ("workflow", "ref"),
            workflow=text("Its file name or id"),
            ref=text("The branch or tag"),
            inputs={
                "type": "object",
                "description": "Its inputs, texts",
                "additionalProperties": {"type": "string"},
            },
        ),
        outputs=fields(workflow=text("The workflow"), ref=text("The branch or tag")),
        risk="high",
    )
    needs: Mapping[str, str] = {"actions": "write"}

    async def __call__(
        self, ctx: ToolContext, *, workflow: str, ref: str, inputs: dict[str, str] | None = None
    ) -> JsonObject:
        hub, repository = self._at(ctx)

        async def do() -> JsonObject:
            await hub.dispatch(repository, workflow, ref, inputs or {})
            return {"workflow": workflow, "ref": ref}

        async def look() -> JsonObject | None:
            raise Permanent(
                "dispatch_uncertain",
                f"{workflow} may have been started already: the answer was lost",
                hint="Look at the repository's Actions page; retry the task only if it is not "
                "there, or mark it as succeeded.",
            )

        return await ctx.once(
            f"{ctx.key}:dispatch",
            what="start a workflow",
            intent={"workflow": workflow, "ref": ref},
            look=look,
            do=do,
        )


class ReleaseNotes(HubTool):
    info = ToolInfo(
        name="github.release_notes",
        summary="Let GitHub write the notes of a release; nothing is published",
        inputs=fields(
            ("tag",),
            tag=text("The release's tag"),
            previous_tag=nullable(text("Since which; the last release when absent")),
        ),
        outputs=fields(notes=text("The notes, in markdown")),
    )

    async def __call__(
        self, ctx: ToolContext, *, tag: str, previous_tag: str | None = None
    ) -> JsonObject:
        hub, repository = self._at(ctx)
        return {"notes": await hub.release_notes(repository, tag, previous_tag)}


class Protect(HubTool):
    info = ToolInfo(
        name="github.protect",
        summary="Set the protection of a branch as a whole",
        inputs=fields(
            ("branch", "rules"),
            branch=text("The branch"),
            rules={
                "type": "object",
                "description": "As in GitHub's update-branch-protection; what is absent is off",
            },
        ),
        outputs=fields(
            branch=text("The branch"), before={"type": ["object", "null"], "description": "It was"}
        ),
        risk="high",
    )
    needs: Mapping[str, str] = {"administration": "write"}

    async def __call__(self, ctx: ToolContext, *, branch: str, rules: JsonObject) -> JsonObject:
        hub, repository = self._at(ctx)

        async def read() -> JsonObject:
            return {"branch": branch, "before": await hub.protection(repository, branch)}

        found = await remembered(ctx, "protection", read)
        await hub.protect(repository, branch, rules)
        return found


class Settings(HubTool):
    info = ToolInfo(
        name="github.settings",
        summary="Change settings of the repository; not who sees it, its name or its owner",
        inputs=fields(
            ("changes",),
            changes={"type": "object", "description": "Settings of GitHub by their names"},
        ),
        outputs=fields(
            changes={
                "type": "object",
                "description": "What they were before: given to this tool it takes them back",
            },
        ),
        risk="high",
        undo="github.settings",
    )
    needs: Mapping[str, str] = {"administration": "write"}

    async def __call__(self, ctx: ToolContext, *, changes: JsonObject) -> JsonObject:
        hub, repository = self._at(ctx)

        async def read() -> JsonObject:
            return {"changes": await hub.settings(repository, list(changes))}

        before = await remembered(ctx, "settings", read)
        await hub.change_settings(repository, changes)
        return before


class ResolveThreads(HubTool):
    info = ToolInfo(
        name="github.resolve_threads",
        summary="Resolve the review threads that we began on a pull request",
        inputs=fields(number=NUMBER),
        outputs=fields(
            number=integer("The pull request"),
            resolved=integer("How many were resolved now"),
            left=integer("How many of others are open"),
            all=flag("Whether none is open any more"),
        ),
        risk="medium",
    )

    async def __call__(self, ctx: ToolContext, *, number: int | None = None) -> JsonObject:
        hub, repository = self._at(ctx)
        about = number_of(ctx.order, number)
        unresolved = [one for one in await hub.threads(repository, about) if not one.resolved]
        ours = [one for one in unresolved if one.ours]
        for one in ours:
            await hub.resolve_thread(repository, one.node_id)
        left = len(unresolved) - len(ours)
        return {"number": about, "resolved": len(ours), "left": left, "all": left == 0}
