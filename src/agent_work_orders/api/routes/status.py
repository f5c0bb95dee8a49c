"""Health for machines, status for people."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from agent_work_orders import __version__
from agent_work_orders.api import administration_models as models
from agent_work_orders.api import views
from agent_work_orders.api.models import AgentWorkOrderStatus
from agent_work_orders.api.request_parts import caller_of, house_of
from agent_work_orders.bootstrap import House
from agent_work_orders.bootstrap.surroundings import claude
from agent_work_orders.observability.pauses import Pauses
from agent_work_orders.security.roles import Caller
from agent_work_orders.state_manager.records import OrderFilter
from agent_work_orders.work_orders import approvals, inspect

router = APIRouter(tags=["status"])


@router.get("/healthz", response_model=models.Health)
async def healthz() -> Response:
    """Whether the process answers."""
    return views.answer({"status": "ok"})


@router.get(
    "/readyz",
    response_model=models.Readiness,
    responses={503: {"model": models.Readiness, "description": "Not now"}},
)
async def readyz(request: Request) -> Response:
    """Whether it takes work: not while it starts, drains or cannot write."""
    reason = unready(house_of(request))
    if request.app.state.draining:
        reason = "draining"
    return views.answer({"ready": reason is None, "reason": reason}, 200 if reason is None else 503)


def unready(house: House) -> str | None:
    """Why no work is taken, as a word; the words of the operating system stay inside."""
    trouble = house.store.trouble()
    if trouble is not None:
        return trouble[0]
    health = house.engine.health()
    return None if health["ok"] else f"engine_{health['state']}"


@router.get("/status", response_model=models.Status)
async def status(request: Request) -> Response:
    """Active tasks, sandboxes, credentials, the queue and the engine's health."""
    house, caller = house_of(request), caller_of(request)
    caller.need("read")
    health = house.engine.health()
    engine = {name: health[name] for name in models.EngineStatus.model_fields}
    if caller.repositories is not None:
        engine["quarantined"] = []
    records = await house.context.sandboxes.records()
    signed_in = claude(house.settings).sign_in.missing() is None
    sandboxes = [one for one in records if one.status in ("PROVISIONING", "ACTIVE")]
    return views.answer(
        {
            "status": "ok" if unready(house) is None else "degraded",
            "version": __version__,
            "started_at": house.lock.owner.started_at,
            "active_tasks": health["running"],
            "queued_tasks": health["queued"],
            "sandbox_count": len(sandboxes),
            "credential_status": {
                "model_sign_in": "configured" if signed_in else "missing",
            },
            "work_orders": await _counts(house, caller),
            "approvals_asked": len(await approvals.asked(house.context, caller, 500)),
            "engine": engine,
            "journal": _journal(house),
            "event_loop": _event_loop(request.app.state.pauses, caller),
            "github": _github(house, caller),
        }
    )


def _journal(house: House) -> str:
    trouble = house.store.trouble()
    if trouble is not None:
        return trouble[0]
    return "rows_damaged" if house.store.damaged else "ok"


def _event_loop(pauses: Pauses, caller: Caller) -> views.Json:
    longest = pauses.longest
    return {
        "longest_pause_ms": round(longest.lasted_s * 1000, 1) if longest else 0.0,
        "longest_pause_at": views.when(longest.at_ms) if longest else None,
        "longest_pause_cpu_ms": round(longest.process_cpu_s * 1000, 1) if longest else 0.0,
        "longest_pause_in": longest.running if longest and caller.repositories is None else "",
        "long_pauses": pauses.count,
    }


def _github(house: House, caller: Caller) -> views.Json | None:
    if house.context.github is None:
        return None
    now = house.context.github.quota_report()
    totals = ("under_way", "waiting", "sent", "held", "limited", "failed")
    return {
        **{name: getattr(now, name) for name in totals},
        "unavailable_until": views.when(now.unavailable_until_ms),
        "credentials": [
            {
                "credential": one.credential,
                "limit": one.limit,
                "remaining": one.remaining,
                "reset_at": views.when(one.reset_at_ms),
                "held_until": views.when(one.held_until_ms),
                "reason": one.reason,
            }
            for one in (now.credentials if caller.repositories is None else ())
        ],
    }


async def _counts(house: House, caller: Caller) -> dict[str, int]:
    """By status, of the orders that the caller may see."""
    if caller.repositories is None:
        found = await house.context.store.records.counts()
        return {one.value: found.get(one.value, 0) for one in AgentWorkOrderStatus}
    counts = {}
    for one in AgentWorkOrderStatus:
        wanted = OrderFilter(status=(one.value,))
        page = await inspect.page(house.context, caller, wanted, limit=1)
        counts[one.value] = page.total_count
    return counts
