"""What an order can be made of: tools, agents, sandbox types, repositories."""

from __future__ import annotations

import msgspec
from fastapi import APIRouter, Request, Response

from agent_work_orders.agent_executor.registry import DESCRIPTIONS
from agent_work_orders.api import administration_models as models
from agent_work_orders.api import requests, views
from agent_work_orders.api.request_parts import caller_of, context_of
from agent_work_orders.errors import Failed, Refused, Transient
from agent_work_orders.github_integration.quota import QuotaHeld
from agent_work_orders.repositories import origin as origins
from agent_work_orders.repositories import url
from agent_work_orders.repositories.history import RemoteHeads
from agent_work_orders.repositories.url import RepositoryUrl
from agent_work_orders.sandbox_manager.sandbox_types import SANDBOX_TYPES
from agent_work_orders.work_orders import sandboxes
from agent_work_orders.work_orders.context import Context

router = APIRouter(prefix="/api", tags=["parts"])
MAX_BRANCHES = 100
# The least with which each agent can be made, to ask whether it could run.
_BARE: dict[str, views.Json] = {
    "command": {"argv": ["true"]},
    "scripted": {"script": "version: 1\ndefault: []\n"},
}


@router.get("/tools", response_model=models.ToolList)
async def list_tools(request: Request) -> Response:
    """What a workflow's tasks may use."""
    caller_of(request).need("read")
    catalogue = context_of(request).catalogue
    return views.answer({"tools": [msgspec.to_builtins(catalogue[n]) for n in sorted(catalogue)]})


@router.get("/available-agents", response_model=models.AvailableAgentList)
async def list_available_agents(request: Request) -> Response:
    """The agents that an order may name, and whether they can run here."""
    caller_of(request).need("read")
    context = context_of(request)
    return views.answer(
        {
            "agents": [
                {
                    "name": name,
                    "description": DESCRIPTIONS[name],
                    "default": name == context.policy.default_agent,
                    "problem": _problem(context, name),
                }
                for name in context.agents.names()
            ]
        }
    )


def _problem(context: Context, name: str) -> str | None:
    return context.agents.create({"name": name, **_BARE.get(name, {})}).check()


@router.get("/sandbox-types", response_model=models.SandboxTypeList)
async def list_sandbox_types(request: Request) -> Response:
    """Where an order's agent can work, and what each keeps apart."""
    caller_of(request).need("read")
    context = context_of(request)
    rows = await sandboxes.types(context.sandboxes, SANDBOX_TYPES)
    shown = views.sandbox_types(rows, context.policy.default_sandbox)
    return views.answer({"sandbox_types": shown})


@router.post(
    "/github/verify-repository", response_model=models.GitHubRepositoryVerificationResponse
)
async def verify_repository(
    request: Request, body: requests.GitHubRepositoryVerificationRequest
) -> Response:
    """Whether the server can read a repository, and what its default branch is."""
    context, caller = context_of(request), caller_of(request)
    caller.need("operate")
    origin = url.parse(body.repository_url, origins=context.policy.git_origins)
    caller.need_repository(origin.key)
    heads: RemoteHeads | None = None
    error: Refused | Failed | None = None
    try:
        heads = await _heads(context, origin)
    except (Refused, Failed) as caught:
        error = caught
    except QuotaHeld as held:
        until = views.when(held.until_ms)
        error = Transient(
            "github_limited", f"GitHub's limits allow no question before {until}", hint="Ask later."
        )
    return views.answer(
        {
            "repository": _repository(context, origin, heads),
            "verification_success": heads is not None,
            "error_message": None if error is None else context.redact(error.message),
            "error_hint": (error.hint or None) if error is not None else None,
        }
    )


async def _heads(context: Context, origin: RepositoryUrl) -> RemoteHeads:
    """Of a hub's repository what the hub says of it, else what git says."""
    place = context.forges.at(origin.key, origin.url)
    if place.hub is None:
        return await origins.list_heads(context.mirrors.git, origin)
    facts = await place.hub.asking("person").repository(place.repository)
    refs = {f"refs/heads/{facts.default_branch}": ""}
    return RemoteHeads(head_branch=facts.default_branch, head_sha=None, refs=refs)


def _repository(context: Context, origin: RepositoryUrl, heads: RemoteHeads | None) -> views.Json:
    owner, name = owner_and_name(origin)
    return {
        "repository_owner": owner,
        "repository_name": name,
        "repository_url": origin.url,
        "default_branch": (heads.head_branch if heads else None) or "main",
        "is_accessible": heads is not None,
        "access_verified_at": None if heads is None else views.when(context.clock.now_ms()),
        "branches": [] if heads is None else sorted(heads.branches)[:MAX_BRANCHES],
    }


def owner_and_name(origin: RepositoryUrl) -> tuple[str, str]:
    """The last two parts of the address; a path has its folder as owner."""
    parts = [part for part in origin.url.replace(":", "/").split("/") if part]
    name = parts[-1].removesuffix(".git") or parts[-1]
    return (parts[-2] if len(parts) > 1 else ""), name
