"""Work orders: create, list, look."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response

from agent_work_orders.api import models, requests, views
from agent_work_orders.api.request_parts import (
    IdempotencyKey,
    Limit50,
    Offset,
    OrderIdPath,
    caller_of,
    context_of,
)
from agent_work_orders.security.roles import Caller
from agent_work_orders.state_manager.logbook import LogFilter
from agent_work_orders.state_manager.records import OrderFilter, OrderRecord
from agent_work_orders.work_orders import find, inspect, keys, submit
from agent_work_orders.work_orders.context import Context, LiveContext

router = APIRouter(prefix="/api/agent-work-orders", tags=["work orders"])

Level = Annotated[
    str | None, Query(pattern="^(debug|info|warning|error)$", description="Only this level")
]


@router.post("", status_code=201, response_model=models.AgentWorkOrderResponse)
async def create_agent_work_order(
    request: Request,
    body: requests.CreateAgentWorkOrderRequest,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Create a work order and start it. Answers before any work is done."""
    return await created(context_of(request), body.order(idempotency_key), caller_of(request))


async def created(context: LiveContext, new: submit.NewOrder, caller: Caller) -> Response:
    record = await submit.submit(context, new, caller)
    progress = inspect.NO_PROGRESS
    if new.idempotency_key is not None and record.execution_started_at_ms is not None:
        progress = await inspect.progress(context, record)
    location = {"Location": f"/api/agent-work-orders/{record.agent_work_order_id}"}
    return views.answer(views.order(record, progress), 201, location)


@router.get("", response_model=models.AgentWorkOrderList)
async def list_agent_work_orders(
    request: Request,
    status: Annotated[
        list[models.AgentWorkOrderStatus] | None,
        Query(max_length=10, description="Only these; may be repeated"),
    ] = None,
    repository: Annotated[
        str | None, Query(max_length=2048, description="Address or key of a repository")
    ] = None,
    workflow: Annotated[str | None, Query(max_length=64)] = None,
    q: Annotated[
        str | None,
        Query(max_length=200, description="Text in id, address, title, prompt, branch or issue"),
    ] = None,
    sort: Annotated[
        Literal["created_at", "updated_at"], Query(description="What to sort by")
    ] = "created_at",
    order: Annotated[
        Literal["asc", "desc"], Query(description="Oldest first, or newest first")
    ] = "desc",
    limit: Limit50 = 50,
    offset: Offset = 0,
) -> Response:
    """Work orders, newest first. Numbers from git are on each order's own page."""
    context = context_of(request)
    wanted = OrderFilter(
        status=tuple(str(one) for one in status or ()),
        repository=None if repository is None else keys.repository_key(context, repository),
        workflow=workflow,
        text=q or None,
    )
    page = await inspect.page(
        context,
        caller_of(request),
        wanted,
        order_by=sort,
        descending=order == "desc",
        limit=limit,
        offset=offset,
    )
    return views.answer(
        {
            "agent_work_orders": [views.summary(row) for row in page.agent_work_orders],
            "total_count": page.total_count,
            "has_more": page.has_more,
        }
    )


@router.get("/{agent_work_order_id}", response_model=models.AgentWorkOrderResponse)
async def get_agent_work_order(request: Request, agent_work_order_id: OrderIdPath) -> Response:
    """An order's present state, with what git says of it."""
    shown = await inspect.show(context_of(request), agent_work_order_id, caller_of(request))
    return views.answer(views.order(shown.record, shown.progress))


@router.get("/{agent_work_order_id}/git-progress", response_model=models.GitProgressSnapshot)
async def get_git_progress(request: Request, agent_work_order_id: OrderIdPath) -> Response:
    """Commits, files and lines so far, and the history of phases."""
    context = context_of(request)
    record, progress, history = await inspect.phase_history(
        context, agent_work_order_id, caller_of(request)
    )
    latest = progress.commits[0] if progress.commits else None
    return views.answer(
        {
            "agent_work_order_id": record.agent_work_order_id,
            "current_phase": record.current_phase,
            **views.counts(progress),
            "latest_commit_message": progress.last_commit_message,
            "latest_commit_sha": None if latest is None else latest.sha,
            "snapshot_timestamp": views.when(context.clock.now_ms()),
            "phase_history": [
                {
                    "phase": span.phase,
                    "started_at": views.when(span.started_at_ms),
                    "completed_at": views.when(span.completed_at_ms),
                    "commits": span.commits,
                }
                for span in history
            ],
        }
    )


@router.get("/{agent_work_order_id}/logs", response_model=models.LogEntries)
async def get_logs(
    request: Request,
    agent_work_order_id: OrderIdPath,
    limit: Limit50 = 100,
    offset: Offset = 0,
    level: Level = None,
    q: Annotated[
        str | None,
        Query(max_length=200, description="Text in the event or its fields, in either case"),
    ] = None,
    order: Annotated[
        Literal["asc", "desc"], Query(description="Oldest first, or newest first")
    ] = "asc",
    after: Annotated[
        int, Query(ge=0, le=2**53, description="Only lines with a larger `n`: to go on behind it")
    ] = 0,
) -> Response:
    """What happened. The end of a long log is `order=desc`; what follows it is `after=` the
    largest `n` seen."""
    context, caller = context_of(request), caller_of(request)
    row = await _row(context, agent_work_order_id, caller)
    page = await inspect.logs(
        context,
        row.agent_work_order_id,
        caller,
        LogFilter(level=level, text=q or None, after=after),
        limit=limit,
        offset=offset,
        descending=order == "desc",
    )
    return views.answer(
        {
            "agent_work_order_id": row.agent_work_order_id,
            "log_entries": [views.log_entry(entry) for entry in page.log_entries],
            "total_count": page.total_count,
            "has_more": page.has_more,
        }
    )


@router.get("/{agent_work_order_id}/tasks", response_model=models.TaskList)
async def get_tasks(request: Request, agent_work_order_id: OrderIdPath) -> Response:
    """Every task with its state, outputs and failure, in reading order."""
    context, caller = context_of(request), caller_of(request)
    row = await _row(context, agent_work_order_id, caller)
    found = await inspect.tasks(context, row.agent_work_order_id, caller)
    return views.answer(
        {
            "agent_work_order_id": row.agent_work_order_id,
            "tasks": [views.task(view) for view in found],
        }
    )


async def _row(context: Context, wanted: str, caller: Caller) -> OrderRecord:
    return await find.record_of(context, wanted, caller)
