"""`github.read_*`: what people wrote, as data for later tasks. Bounded, whatever its size."""

from __future__ import annotations

from agent_work_orders.github_integration.forge import ChangedFile
from agent_work_orders.tools.hub_tool import NUMBER, HubTool, listing, number_of
from agent_work_orders.tools.schema import fields, flag, integer, text, texts
from agent_work_orders.tools.tool import JsonObject, ToolContext
from agent_work_orders.workflow_engine.catalogue import ToolInfo

# Together below what a task may return (256 KiB), so that no template misses a field.
BODY_LIMIT = 32_000
PATCHES_LIMIT = 100_000
PATCH_LIMIT = 20_000
FILES_LIMIT = 500


class ReadIssue(HubTool):
    info = ToolInfo(
        name="github.read_issue",
        summary="Read an issue",
        inputs=fields(number=NUMBER),
        outputs=fields(
            number=integer("Its number"),
            title=text("Its title"),
            body=text("What it says, at most 32,000 characters"),
            author=text("Who wrote it"),
            state=text("open or closed"),
            labels=texts("Its labels"),
            url=text("Where it is"),
            is_pull_request=flag("Whether it is a pull request"),
        ),
    )

    async def __call__(self, ctx: ToolContext, *, number: int | None = None) -> JsonObject:
        hub, repository = self._at(ctx)
        issue = await hub.issue(repository, number_of(ctx.order, number))
        return {
            "number": issue.number,
            "title": issue.title,
            "body": issue.body[:BODY_LIMIT],
            "author": issue.author,
            "state": issue.state,
            "labels": list(issue.labels),
            "url": issue.url,
            "is_pull_request": issue.is_pull_request,
        }


class ReadPullRequest(HubTool):
    info = ToolInfo(
        name="github.read_pull_request",
        summary="Read a pull request and the files it changes",
        inputs=fields(number=NUMBER),
        outputs=fields(
            number=integer("Its number"),
            title=text("Its title"),
            body=text("What it says, at most 32,000 characters"),
            author=text("Who wrote it"),
            state=text("draft, open, merged or closed"),
            url=text("Where it is"),
            head_branch=text("The branch that is offered"),
            head_sha=text("Its head commit"),
            base_branch=text("The branch it is offered to"),
            from_fork=flag("Whether it comes from another repository"),
            files=listing(
                "At most 500 files; long patches are left out",
                path=text("The file"),
                status=text("added, modified, removed, renamed…"),
                additions=integer("Lines added"),
                deletions=integer("Lines removed"),
                patch=text("Its patch; empty when it is left out"),
            ),
            files_changed=integer("How many files it changes"),
            truncated=flag("Whether files or patches were left out"),
        ),
    )

    async def __call__(self, ctx: ToolContext, *, number: int | None = None) -> JsonObject:
        hub, repository = self._at(ctx)
        pull = await hub.pull_request(repository, number_of(ctx.order, number))
        files = await hub.files(repository, pull.number)
        shown, truncated = _listed(files)
        return {
            "number": pull.number,
            "title": pull.title,
            "body": pull.body[:BODY_LIMIT],
            "author": pull.author,
            "state": pull.state,
            "url": pull.url,
            "head_branch": pull.head_branch,
            "head_sha": pull.head_sha,
            "base_branch": pull.base_branch,
            "from_fork": pull.from_fork,
            "files": shown,
            "files_changed": len(files),
            "truncated": truncated,
        }


def _listed(files: list[ChangedFile]) -> tuple[list[JsonObject], bool]:
    left = PATCHES_LIMIT
    truncated = len(files) > FILES_LIMIT
    shown: list[JsonObject] = []
    for file in files[:FILES_LIMIT]:
        fits = len(file.patch) <= min(left, PATCH_LIMIT)
        left -= len(file.patch) if fits else 0
        truncated = truncated or not fits
        shown.append(
            {
                "path": file.path[:500],
                "status": file.status,
                "additions": file.additions,
                "deletions": file.deletions,
                "patch": file.patch if fits else "",
            }
        )
    return shown, truncated
