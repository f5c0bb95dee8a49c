"""What a handler takes from a request: the context, the caller, checked parts of the address."""

from __future__ import annotations

from typing import Annotated

from fastapi import Header, Path, Query, Request

from agent_work_orders.api.administration_models import ProblemDocument
from agent_work_orders.api.auth import Identity
from agent_work_orders.bootstrap import House
from agent_work_orders.errors import Forbidden
from agent_work_orders.security.roles import Caller
from agent_work_orders.work_orders.context import LiveContext

OrderIdPath = Annotated[
    str, Path(max_length=64, description="Id of a work order, or any unique beginning of one")
]
Limit50 = Annotated[int, Query(ge=1, le=500, description="How many")]
Offset = Annotated[int, Query(ge=0, le=2**53, description="How many to leave out first")]
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        max_length=255,
        description="The same key with the same body makes one order, however often it is sent",
    ),
]
PROBLEMS: dict[int | str, dict[str, object]] = {
    "default": {
        "model": ProblemDocument,
        "description": "What went wrong, as application/problem+json",
        "content": {"application/problem+json": {}},
    }
}


def house_of(request: Request) -> House:
    house: House = request.app.state.house
    return house


def context_of(request: Request) -> LiveContext:
    return house_of(request).context


def caller_of(request: Request) -> Caller:
    """Who the authentication let in; a route outside of it cannot get here."""
    caller: Caller = request.scope["state"]["caller"]
    return caller


def identity_of(request: Request) -> Identity:
    """The same, with how they were let in."""
    identity: Identity = request.scope["state"]["identity"]
    return identity


def administrator_of(request: Request) -> Caller:
    """Keys and the audit log concern everybody: an administrator of some repositories must not
    make or see what reaches beyond them."""
    caller = caller_of(request)
    caller.need("administer")
    if caller.repositories is not None:
        raise Forbidden(
            "role_insufficient",
            "A key for some repositories only may not administer the server",
            hint="Use an administrator's key without repositories.",
        )
    return caller
