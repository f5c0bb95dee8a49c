"""What an order leaves behind: commits, diff, review, transcript, artifacts. Data, never pages."""

from __future__ import annotations

import asyncio
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Header, Path, Query, Request, Response

from agent_work_orders.api import models, views
from agent_work_orders.api.request_parts import Limit50, OrderIdPath, caller_of, context_of
from agent_work_orders.errors import NotFound
from agent_work_orders.repositories.history import Diff
from agent_work_orders.work_orders import commits, find, inspect, transcript_pages

router = APIRouter(prefix="/api/agent-work-orders/{agent_work_order_id}", tags=["evidence"])

# Whatever an agent made must not run in a browser, whatever type it claims to have.
_SHOWN_AS = {
    "application/json": "application/json",
    "text/plain": "text/plain; charset=utf-8",
    "text/x-diff": "text/plain; charset=utf-8",
    "text/markdown": "text/plain; charset=utf-8",
    "application/x-ndjson": "text/plain; charset=utf-8",
    "application/xml": "text/plain; charset=utf-8",
}
_INERT = {"Content-Security-Policy": "default-src 'none'; sandbox"}


@router.get(
    "/diff",
    response_model=models.DiffAnswer,
    responses={200: {"content": {"text/x-diff": {"schema": {"type": "string"}}}}},
)
async def get_diff(
    request: Request,
    agent_work_order_id: OrderIdPath,
    head: Annotated[
        str | None,
        Query(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$", description="As of this commit of its own"),
    ] = None,
    accept: Annotated[str, Header(max_length=1_000)] = "application/json",
) -> Response:
    """What the order has changed so far: JSON, or the patch itself with `Accept: text/x-diff`."""
    context, caller = context_of(request), caller_of(request)
    order_id = (await find.record_of(context, agent_work_order_id, caller)).agent_work_order_id
    if head is None and "text/x-diff" in accept:
        # For programs: it can be applied, and has what a failed agent left unfinished.
        made, task = await inspect.patch(context, order_id, caller)
        return _patch(made, accept, {"agent_work_order_id": order_id}, task)
    diff = await inspect.diff(context, order_id, caller, head=head)
    return _patch(diff, accept, {"agent_work_order_id": order_id})


@router.get("/commits", response_model=models.CommitList)
async def list_commits(
    request: Request, agent_work_order_id: OrderIdPath, limit: Limit50 = 100
) -> Response:
    """The order's own commits, newest first."""
    context, caller = context_of(request), caller_of(request)
    order_id = (await find.record_of(context, agent_work_order_id, caller)).agent_work_order_id
    page = await commits.page(context, order_id, caller, limit=limit)
    return views.answer(
        {
            "agent_work_order_id": order_id,
            "commits": [views.commit(one, detail) for one, detail in page.commits],
            "has_more": page.has_more,
        }
    )


@router.get(
    "/commits/{sha}/diff",
    response_model=models.CommitDiffAnswer,
    responses={200: {"content": {"text/x-diff": {"schema": {"type": "string"}}}}},
)
async def get_commit_diff(
    request: Request,
    agent_work_order_id: OrderIdPath,
    sha: Annotated[str, Path(max_length=64, description="Full id of one of its commits")],
    accept: Annotated[str, Header(max_length=1_000)] = "application/json",
) -> Response:
    """What one commit changed: JSON, or the patch itself with `Accept: text/x-diff`."""
    context, caller = context_of(request), caller_of(request)
    order_id = (await find.record_of(context, agent_work_order_id, caller)).agent_work_order_id
    diff = await commits.diff(context, order_id, sha, caller)
    return _patch(diff, accept, {"agent_work_order_id": order_id, "sha": sha})


def _patch(diff: Diff, accept: str, more: dict[str, str], task: str | None = None) -> Response:
    if "text/x-diff" in accept:
        headers = {**_INERT, "X-Truncated": "true" if diff.truncated else "false"}
        if task is not None:
            headers["X-Unfinished-Task"] = quote(task)
        return Response(diff.text, media_type="text/x-diff", headers=headers)
    text = diff.text.decode("utf-8", "replace")
    return views.answer({**more, "diff": text, "truncated": diff.truncated})


@router.get("/review", response_model=models.ReviewAnswer)
async def get_review(request: Request, agent_work_order_id: OrderIdPath) -> Response:
    """What was offered for review, for a repository without a forge."""
    context, caller = context_of(request), caller_of(request)
    row = await find.record_of(context, agent_work_order_id, caller)
    found = await asyncio.to_thread(inspect.review, context, row)
    return views.answer(
        {
            "agent_work_order_id": row.agent_work_order_id,
            "review": None if found is None else views.review(found),
        }
    )


@router.get("/transcript", response_model=models.TranscriptPage)
async def get_transcript(
    request: Request,
    agent_work_order_id: OrderIdPath,
    task: Annotated[
        str | None,
        Query(max_length=400, description="Path of the task; the latest, or with `q` all of them"),
    ] = None,
    q: Annotated[
        str | None,
        Query(max_length=200, description="Look for this text in either case, instead of reading"),
    ] = None,
    after: Annotated[int, Query(ge=0, le=2**53, description="Cursor of the last entry seen")] = 0,
    limit: Limit50 = 500,
) -> Response:
    """What an agent said and did, a page at a time; with `q`, where a text stands in it."""
    context, caller = context_of(request), caller_of(request)
    wanted = agent_work_order_id
    if q is None:
        page = await transcript_pages.page(
            context, wanted, caller, task=task, after=after, limit=limit
        )
    else:
        page = await transcript_pages.search(context, wanted, caller, q, task=task, limit=limit)
    return views.answer(views.transcript_page(page))


@router.get("/artifacts", response_model=models.ArtifactList)
async def list_artifacts(request: Request, agent_work_order_id: OrderIdPath) -> Response:
    """Reports, outputs and other evidence, by the hash of their content."""
    context, caller = context_of(request), caller_of(request)
    order_id = (await find.record_of(context, agent_work_order_id, caller)).agent_work_order_id
    found = await inspect.artifacts(context, order_id, caller)
    return views.answer(
        {
            "agent_work_order_id": order_id,
            "artifacts": [views.artifact(order_id, one) for one in found],
        }
    )


@router.get(
    "/artifacts/{sha256}",
    response_class=Response,
    responses={200: {"content": {"application/octet-stream": {}}}},
)
async def get_artifact(
    request: Request,
    agent_work_order_id: OrderIdPath,
    sha256: Annotated[str, Path(max_length=128)],
) -> Response:
    """One of the order's artifacts, its hash verified."""
    context, caller = context_of(request), caller_of(request)
    if len(sha256) != 64:
        raise NotFound(
            "artifact_unknown",
            "The order has no such artifact",
            hint="The list of artifacts has their hashes.",
        )
    one, content = await inspect.artifact(context, agent_work_order_id, sha256, caller)
    plain = one.media_type.split(";", 1)[0].strip().lower()
    headers = {**_INERT, "Content-Disposition": "attachment", "ETag": f'"{one.sha256}"'}
    return Response(
        content, media_type=_SHOWN_AS.get(plain, "application/octet-stream"), headers=headers
    )
