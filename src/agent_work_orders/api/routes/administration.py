"""API keys and the audit log. For administrators of everything."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from agent_work_orders.api import administration_models as models
from agent_work_orders.api import requests, views
from agent_work_orders.api.request_parts import administrator_of, context_of
from agent_work_orders.work_orders import keys

router = APIRouter(prefix="/api", tags=["administration"])


@router.post("/keys", status_code=201, response_model=models.NewKeyAnswer)
async def create_key(request: Request, body: requests.CreateKeyRequest) -> Response:
    """Make an API key. Its token is in this answer and nowhere else."""
    context, caller = context_of(request), administrator_of(request)
    key, token = await keys.create(context, caller, body.name, body.role, body.repositories)
    return views.answer({"key": views.key(key), "token": token}, 201)


@router.get("/keys", response_model=models.KeyList)
async def list_keys(request: Request) -> Response:
    """All keys, the revoked ones too; never their tokens."""
    administrator_of(request)
    return views.answer(
        {"keys": [views.key(one) for one in await context_of(request).store.keys.all()]}
    )


@router.delete("/keys/{key_id}", response_model=models.KeyAnswer)
async def revoke_key(request: Request, key_id: Annotated[str, Path(max_length=80)]) -> Response:
    """Revoke a key at once. A second time changes nothing."""
    context, caller = context_of(request), administrator_of(request)
    key = await keys.revoke(context, caller, key_id)
    return views.answer({"key": views.key(key)})


@router.get("/audit", response_model=models.AuditPage)
async def read_audit(
    request: Request,
    after: Annotated[int, Query(ge=0, le=2**53, description="Number of the last seen")] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    agent_work_order_id: Annotated[str | None, Query(max_length=64)] = None,
) -> Response:
    """Who did what, oldest first."""
    administrator_of(request)
    rows = await context_of(request).store.audit.page(
        after=after, limit=limit, order_id=agent_work_order_id
    )
    return views.answer(
        {"entries": [views.audit(row) for row in rows], "next_after": rows[-1].n if rows else after}
    )
