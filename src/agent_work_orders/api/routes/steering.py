"""Steering an order: prompt, cancel, pause, resume, retry, rollback, override."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response

from agent_work_orders.api import models, requests, views
from agent_work_orders.api.request_parts import OrderIdPath, caller_of, context_of
from agent_work_orders.state_manager.records import OrderRecord
from agent_work_orders.work_orders import find, inspect, steer
from agent_work_orders.work_orders.context import Context

router = APIRouter(prefix="/api/agent-work-orders/{agent_work_order_id}", tags=["steering"])
ANSWER = models.AgentWorkOrderResponse


@router.post("/prompt", response_model=models.AgentPromptResponse)
async def send_prompt(
    request: Request, agent_work_order_id: OrderIdPath, body: requests.AgentPromptRequest
) -> Response:
    """Send a prompt to an order at work; the agent gets it at its next turn."""
    body.check(agent_work_order_id)
    context, caller = context_of(request), caller_of(request)
    row = await find.record_of(context, agent_work_order_id, caller)
    prompt_id = await steer.prompt(context, row.agent_work_order_id, body.prompt_text, caller)
    return views.answer(
        {
            "agent_work_order_id": row.agent_work_order_id,
            "prompt_accepted": True,
            "message": "Prompt kept; the agent gets it at its next turn",
            "prompt_id": prompt_id,
        }
    )


@router.post("/cancel", response_model=ANSWER)
async def cancel(request: Request, agent_work_order_id: OrderIdPath) -> Response:
    """Stop the order for good. Its branch and what it did stay."""
    context = context_of(request)
    return await _steered(
        context, await steer.cancel(context, agent_work_order_id, caller_of(request))
    )


@router.post("/pause", response_model=ANSWER)
async def pause(request: Request, agent_work_order_id: OrderIdPath) -> Response:
    """Let running tasks end and start nothing new."""
    context = context_of(request)
    return await _steered(
        context, await steer.pause(context, agent_work_order_id, caller_of(request))
    )


@router.post("/resume", response_model=ANSWER)
async def resume(request: Request, agent_work_order_id: OrderIdPath) -> Response:
    """Go on after a pause."""
    context = context_of(request)
    return await _steered(
        context, await steer.resume(context, agent_work_order_id, caller_of(request))
    )


@router.post("/retry", response_model=ANSWER)
async def retry(
    request: Request, agent_work_order_id: OrderIdPath, body: requests.RetryRequest | None = None
) -> Response:
    """Run what failed again, or everything from the given task on."""
    context, caller = context_of(request), caller_of(request)
    asked = body or requests.RetryRequest()
    row = await steer.retry(
        context,
        agent_work_order_id,
        caller,
        asked.task,
        text=asked.prompt_text or "",
        agent_timeout_s=asked.agent_timeout_s,
    )
    return await _steered(context, row)


@router.post("/rollback", response_model=ANSWER)
async def rollback(request: Request, agent_work_order_id: OrderIdPath) -> Response:
    """Undo what the order did to the world, as far as it can be undone."""
    context, caller = context_of(request), caller_of(request)
    return await _steered(context, await steer.rollback(context, agent_work_order_id, caller))


@router.post("/tasks/{path:path}/override", response_model=ANSWER)
async def override_task(
    request: Request,
    agent_work_order_id: OrderIdPath,
    path: Annotated[str, Path(max_length=400, description="Path of the task: `fix[2].check`")],
    body: requests.OverrideRequest,
) -> Response:
    """Decide a stuck task: skip it, call it done, or try it again."""
    context, caller = context_of(request), caller_of(request)
    row = await steer.override(
        context, agent_work_order_id, caller, path=path, action=body.action, outputs=body.outputs
    )
    return await _steered(context, row)


async def _steered(context: Context, row: OrderRecord) -> Response:
    return views.answer(views.order(row, await inspect.progress(context, row)))
