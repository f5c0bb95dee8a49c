"""`github.check` and `github.review`: what was found, on a commit and on the lines of a change."""

from __future__ import annotations

from typing import Any

import msgspec

from agent_work_orders.errors import Environmental, Permanent, Refused
from agent_work_orders.github_integration import verdicts
from agent_work_orders.github_integration.forge import (
    Annotation,
    Check,
    Hub,
    LineComment,
    Repository,
    Review,
)
from agent_work_orders.tools.hub_tool import HEAD, NUMBER, HubTool, head_of, listing, number_of
from agent_work_orders.tools.schema import fields, integer, nullable, text
from agent_work_orders.tools.tool import JsonObject, ToolContext
from agent_work_orders.workflow_engine.catalogue import ToolInfo

CONCLUSIONS = ["success", "failure", "neutral", "cancelled", "skipped", "timed_out"]
FINDINGS = listing(
    "What was found, each on a line",
    path=text("The file"),
    line=integer("The line of its new content"),
    severity=text("error, warning, info or suggestion"),
    message=text("What is the matter"),
    suggestion=nullable(text("Code to put in the line's place")),
)
DISMISSED = "A later review of ours found nothing that has to be changed."
_LEVELS: dict[str, Any] = {"error": "failure", "warning": "warning"}


class CheckCommit(HubTool):
    info = ToolInfo(
        name="github.check",
        summary="Write a check on a commit, or bring the order's check of that name up to date",
        inputs=fields(
            ("title", "summary"),
            head_sha=HEAD,
            name=text("The check's name", default="Agent Work Orders"),
            title=text("One line"),
            summary=text("What was checked and found"),
            conclusion=nullable(text("How it ended; running when absent", enum=CONCLUSIONS)),
            findings=FINDINGS,
        ),
        outputs=fields(
            check_id=integer("Its id; 0 when it became a commit status"),
            head_sha=text("The commit"),
            conclusion=nullable(text("How it ended")),
        ),
        risk="medium",
    )

    async def __call__(
        self,
        ctx: ToolContext,
        *,
        head_sha: str | None = None,
        name: str = "Agent Work Orders",
        title: str,
        summary: str,
        conclusion: str | None = None,
        findings: list[JsonObject] | None = None,
    ) -> JsonObject:
        hub, repository = self._at(ctx)
        check = msgspec.convert(
            {
                "name": name,
                "head_sha": head_of(ctx.order, head_sha),
                "title": self._redact(title),
                "summary": self._redact(summary),
                "conclusion": conclusion,
            },
            Check,
        )
        annotations = [self._annotation(one) for one in findings or []]
        check = msgspec.structs.replace(check, annotations=annotations)
        check_id = await self._write(ctx, hub, repository, check)
        return {"check_id": check_id, "head_sha": check.head_sha, "conclusion": conclusion}

    async def _write(self, ctx: ToolContext, hub: Hub, repository: Repository, check: Check) -> int:
        key = f"{ctx.order.order_id}:check:{check.name}:{check.head_sha}"
        made: list[int] = []

        async def look() -> JsonObject | None:
            found = await verdicts.find(hub, repository, check.head_sha, key)
            return None if found is None else {"check_id": found}

        async def do() -> JsonObject:
            made.append(await verdicts.add(hub, repository, check, key))
            return {"check_id": made[0]}

        receipt = await ctx.once(
            key, what="write a check", intent={"head_sha": check.head_sha}, look=look, do=do
        )
        check_id = int(receipt["check_id"])
        if not made:
            await verdicts.edit(hub, repository, check_id, check, key)
        return check_id

    def _annotation(self, finding: JsonObject) -> Annotation:
        line = int(finding.get("line") or 1)
        return Annotation(
            path=str(finding.get("path", "")),
            start_line=line,
            end_line=line,
            level=_LEVELS.get(str(finding.get("severity")), "notice"),
            message=self._redact(str(finding.get("message", ""))),
        )


class ReviewPullRequest(HubTool):
    info = ToolInfo(
        name="github.review",
        summary="Review a pull request with comments on its lines; never approves it",
        inputs=fields(
            ("body",),
            number=NUMBER,
            head_sha=HEAD,
            event=text(
                "COMMENT or REQUEST_CHANGES",
                enum=["COMMENT", "REQUEST_CHANGES"],
                default="COMMENT",
            ),
            body=text("What to say about the whole"),
            findings=FINDINGS,
        ),
        outputs=fields(
            review_id=integer("Its id"),
            number=integer("The pull request"),
            event=text("As what it was posted"),
            dismissed=integer("How many earlier ones of ours requested changes, and do no more"),
        ),
        risk="medium",
    )

    async def __call__(
        self,
        ctx: ToolContext,
        *,
        number: int | None = None,
        head_sha: str | None = None,
        event: str = "COMMENT",
        body: str,
        findings: list[JsonObject] | None = None,
    ) -> JsonObject:
        if event not in ("COMMENT", "REQUEST_CHANGES"):
            raise Refused(
                "review_event_refused",
                f"A review is not posted as {event[:40]!r}",
                hint="An approval is a person's: use COMMENT or REQUEST_CHANGES.",
                field="event",
            )
        hub, repository = self._at(ctx)
        about, key = number_of(ctx.order, number), f"{ctx.key}:review"
        pull = await hub.pull_request(repository, about)
        # Changes cannot be requested of oneself.
        own = pull.author.lower() == (await hub.our_login()).lower()
        review = msgspec.convert(
            {
                "head_sha": head_sha or pull.head_sha,
                "event": "COMMENT" if own else event,
                "body": self._redact(body),
            },
            Review,
        )
        comments = [self._comment(one) for one in findings or []]
        review = msgspec.structs.replace(review, comments=comments)

        async def look() -> JsonObject | None:
            found = await hub.find_review(repository, about, key)
            return None if found is None else {"review_id": found}

        async def do() -> JsonObject:
            return {"review_id": await hub.add_review(repository, about, review, key)}

        receipt = await ctx.once(
            key, what="review a pull request", intent={"number": about}, look=look, do=do
        )
        dismissed = 0
        if event == "COMMENT":
            dismissed = await self._take_back(ctx, hub, repository, about)
        return {**receipt, "number": about, "event": review.event, "dismissed": dismissed}

    async def _take_back(
        self, ctx: ToolContext, hub: Hub, repository: Repository, about: int
    ) -> int:
        """What we asked to be changed is changed: nothing of ours keeps it from being merged. Where
        we may not (a protected branch names who may), the review stands all the same."""
        try:
            return await hub.dismiss_reviews(repository, about, DISMISSED)
        except (Permanent, Environmental) as error:
            ctx.log("github_dismissal_refused", level="warning", error=str(error))
            return 0

    def _comment(self, finding: JsonObject) -> LineComment:
        said = [f"**{finding.get('severity', 'info')}**: {finding.get('message', '')}"]
        suggestion = finding.get("suggestion")
        if suggestion and "```" not in str(suggestion):
            said.append(f"```suggestion\n{suggestion}\n```")
        return LineComment(
            path=str(finding.get("path", "")),
            line=int(finding.get("line") or 1),
            body=self._redact("\n\n".join(said)),
        )
