"""Work orders in the words of the pipeline's Task model: submit one, look at one."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Request, Response

from agent_work_orders.api import pipeline_models, views
from agent_work_orders.api.request_parts import IdempotencyKey, caller_of, context_of
from agent_work_orders.errors import Refused
from agent_work_orders.security.roles import Caller
from agent_work_orders.work_orders import find, inspect, pipeline_tasks, submit
from agent_work_orders.work_orders.context import Context
from agent_work_orders.work_orders.read_side import projection

router = APIRouter(tags=["pipeline tasks"])

TaskId = Annotated[
    str, Path(max_length=64, description="Id of a task: that of its work order, or its beginning")
]


@router.post("/api/submit", status_code=201, response_model=pipeline_models.PipelineTask)
async def submit_task(
    request: Request,
    body: Annotated[pipeline_models.SubmitTaskRequest, Body()],
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Submit a task of the pipeline: creates a work order. Answers before any work is done."""
    context, caller = context_of(request), caller_of(request)
    caller.need("operate")
    task = pipeline_models.task(body)
    try:
        new = pipeline_tasks.order_of(task, idempotency_key)
        record = await submit.submit(context, new, caller)
    except Refused as error:
        if error.field is not None:
            error.context["field"] = pipeline_tasks.sent_as(task.type, error.field)
        raise
    task_id = record.agent_work_order_id
    shown = await _task(context, task_id, caller)
    return views.answer(shown, 201, {"Location": f"/task/{task_id}"})


@router.get("/task/{task_id}", response_model=pipeline_models.PipelineTask)
async def get_task(request: Request, task_id: TaskId) -> Response:
    """A work order as a task, with its result once it has ended."""
    return views.answer(await _task(context_of(request), task_id, caller_of(request)))


async def _task(context: Context, wanted: str, caller: Caller) -> dict[str, Any]:
    row = await find.record_of(context, wanted, caller)
    run = await find.run_of(context, row.agent_work_order_id)
    record = projection.record(run, row.run_seq, context.runs.held_until_ms(run.run_id))
    if not pipeline_tasks.has_ended(record):
        return pipeline_tasks.task_of(record, run, inspect.NO_PROGRESS, ())
    progress = await inspect.progress(context, row)
    artifacts = await inspect.artifacts(context, row.agent_work_order_id, caller)
    return pipeline_tasks.task_of(record, run, progress, artifacts)
