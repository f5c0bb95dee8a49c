"""Approvals. Their ids contain `/` and `[`, so they are the rest of the address."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from agent_work_orders.api import administration_models as models
from agent_work_orders.api import requests, views
from agent_work_orders.api.request_parts import OrderIdPath, caller_of, context_of
from agent_work_orders.work_orders import approvals

router = APIRouter(prefix="/api", tags=["approvals"])

ApprovalId = Annotated[str, Path(max_length=600, description="Id as listed")]


@router.get("/approvals", response_model=models.ApprovalList)
async def list_approvals(
    request: Request, limit: Annotated[int, Query(ge=1, le=500)] = 100
) -> Response:
    """What people are asked now, oldest first."""
    found = await approvals.asked(context_of(request), caller_of(request), limit)
    return views.answer({"approvals": [views.approval(one) for one in found]})


@router.get(
    "/agent-work-orders/{agent_work_order_id}/approvals", response_model=models.ApprovalList
)
async def list_approvals_of_order(request: Request, agent_work_order_id: OrderIdPath) -> Response:
    """All that was asked for one order, with the answers."""
    found = await approvals.of_order(context_of(request), agent_work_order_id, caller_of(request))
    return views.answer({"approvals": [views.approval(one) for one in found]})


@router.get("/approvals/{approval_id:path}", response_model=models.ApprovalAnswer)
async def get_approval(request: Request, approval_id: ApprovalId) -> Response:
    """One approval with what exactly is asked."""
    found = await approvals.get(context_of(request), approval_id, caller_of(request))
    return views.answer({"approval": views.approval(found)})


@router.post("/approvals/{approval_id:path}/approve", response_model=models.ApprovalAnswer)
async def approve(
    request: Request, approval_id: ApprovalId, body: requests.DecisionRequest | None = None
) -> Response:
    """Say yes to what is asked."""
    return await _decide(request, approval_id, body, approved=True)


@router.post("/approvals/{approval_id:path}/reject", response_model=models.ApprovalAnswer)
async def reject(
    request: Request, approval_id: ApprovalId, body: requests.DecisionRequest | None = None
) -> Response:
    """Say no; the comment tells why."""
    return await _decide(request, approval_id, body, approved=False)


async def _decide(
    request: Request, approval_id: str, body: requests.DecisionRequest | None, *, approved: bool
) -> Response:
    said = body or requests.DecisionRequest()
    decided = await approvals.decide(
        context_of(request),
        approval_id,
        caller_of(request),
        approved=approved,
        comment=said.comment,
        subject_hash=said.subject_hash,
    )
    return views.answer({"approval": views.approval(decided)})
