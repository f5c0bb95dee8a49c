"""Check runs and commit statuses. A check carries its key as `external_id`."""

from __future__ import annotations

from typing import Any, Literal

from agent_work_orders.github_integration.forge import Annotation, Check, Repository
from agent_work_orders.github_integration.resources import markers, untrusted_text, wire
from agent_work_orders.github_integration.resources.resource import Resource

# docs.github.com/rest/checks/runs: annotations of one request, characters of a title and message.
ANNOTATIONS_AT_ONCE = 50
# Beyond that nobody reads; the summary says how many there are.
ANNOTATIONS_LIMIT = 1_000
ANNOTATION_TITLE = 255
ANNOTATION_MESSAGE = 16_000
NAME_LIMIT = 100
STATUS_LIMIT = 140


class Checks(Resource):
    async def find_check(self, repository: Repository, head_sha: str, key: str) -> int | None:
        async def look() -> int | None:
            runs = await self._pages(
                repository,
                f"commits/{head_sha}/check-runs",
                wire.CheckRun,
                items="check_runs",
                filter="all",
            )
            login = await self.our_login()
            for run in runs:
                slug = run.app.slug if run.app else None
                if run.external_id == key and f"{slug}[bot]" == login:
                    return run.id
            return None

        return await self._look(look)

    async def add_check(self, repository: Repository, check: Check, key: str) -> int:
        first, rest = _batches(check)
        body = {**self._fields(check, key, first), "head_sha": check.head_sha}
        made = await self._send("POST", repository, "check-runs", body, creates=True)
        check_id = wire.written(made, wire.CheckRun).id
        await self._annotate(repository, check_id, check, rest)
        return check_id

    async def edit_check(
        self, repository: Repository, check_id: int, check: Check, key: str
    ) -> None:
        path = f"check-runs/{check_id}"
        # The service adds annotations to those it has: what an earlier request left is skipped.
        there = wire.read(await self._get(repository, path), wire.CheckRun)
        first, rest = _batches(check, there.output.annotations_count)
        await self._send("PATCH", repository, path, self._fields(check, key, first))
        await self._annotate(repository, check_id, check, rest)

    async def set_status(
        self,
        repository: Repository,
        head_sha: str,
        *,
        context: str,
        state: Literal["error", "failure", "pending", "success"],
        description: str,
        target_url: str = "",
    ) -> None:
        body = {
            "state": state,
            "context": untrusted_text.line(context, NAME_LIMIT),
            "description": untrusted_text.line(description, STATUS_LIMIT),
        }
        if target_url:
            body["target_url"] = target_url
        if not await self._stands(repository, head_sha, body):
            await self._send("POST", repository, f"statuses/{head_sha}", body, creates=True)

    async def _stands(self, repository: Repository, head_sha: str, wanted: dict[str, str]) -> bool:
        """Whether the latest status of the context is this one, and ours."""
        for one in await self._pages(repository, f"commits/{head_sha}/statuses", wire.Status):
            if one.context == wanted["context"]:
                return one.says(wanted) and await self._ours(one.creator)
        return False

    async def _annotate(
        self, repository: Repository, check_id: int, check: Check, rest: list[list[dict[str, Any]]]
    ) -> None:
        for batch in rest:
            body = {"output": {**self._output(check), "annotations": batch}}
            await self._send("PATCH", repository, f"check-runs/{check_id}", body)

    def _fields(self, check: Check, key: str, annotations: list[dict[str, Any]]) -> dict[str, Any]:
        output = self._output(check)
        if annotations:
            output["annotations"] = annotations
        body: dict[str, Any] = {
            "name": untrusted_text.line(check.name, NAME_LIMIT),
            "external_id": key,
            "status": "in_progress" if check.conclusion is None else "completed",
            "output": output,
        }
        if check.conclusion is not None:
            body["conclusion"] = check.conclusion
        if check.details_url:
            body["details_url"] = check.details_url
        return body

    def _output(self, check: Check) -> dict[str, Any]:
        total = len(check.annotations)
        more = f"\n\n{ANNOTATIONS_LIMIT} of {total} annotations are shown."
        output = {
            "title": untrusted_text.line(check.title, markers.TITLE_LIMIT) or check.name,
            "summary": markers.bounded(
                untrusted_text.harmless(check.summary, self._hosts),
                more if total > ANNOTATIONS_LIMIT else "",
            ),
        }
        if check.text:
            output["text"] = markers.bounded(untrusted_text.harmless(check.text, self._hosts))
        return output


def _batches(
    check: Check, there: int = 0
) -> tuple[list[dict[str, Any]], list[list[dict[str, Any]]]]:
    """The first one, and those that follow in requests of their own."""
    shown = [_annotation(one) for one in check.annotations[there:ANNOTATIONS_LIMIT]]
    parts = [
        shown[at : at + ANNOTATIONS_AT_ONCE] for at in range(0, len(shown), ANNOTATIONS_AT_ONCE)
    ]
    return (parts[0] if parts else []), parts[1:]


def _annotation(one: Annotation) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "path": one.path,
        "start_line": max(1, one.start_line),
        "end_line": max(1, one.start_line, one.end_line),
        "annotation_level": one.level,
        "message": untrusted_text.plain(one.message)[:ANNOTATION_MESSAGE] or "(no message)",
    }
    if one.title:
        shown["title"] = untrusted_text.line(one.title, ANNOTATION_TITLE)
    return shown
