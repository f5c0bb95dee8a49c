"""Workflows: list, look, validate, trigger."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response
from pydantic import ValidationError

from agent_work_orders.api import models, requests, views
from agent_work_orders.api.body import YAML
from agent_work_orders.api.request_parts import IdempotencyKey, caller_of, context_of
from agent_work_orders.api.routes.orders import created
from agent_work_orders.errors import BadRequest, Refused
from agent_work_orders.work_orders import workflows
from agent_work_orders.work_orders.cache import Compiled
from agent_work_orders.work_orders.context import Context
from agent_work_orders.work_orders.workflows import Known
from agent_work_orders.workflow_engine.definition import DefinitionError, parse

router = APIRouter(prefix="/api/workflows", tags=["workflows"])

Name = Annotated[str, Path(max_length=64, description="Name or alias of a workflow")]
_VALIDATE_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "properties": {"source": {"type": "string", "description": "The YAML"}},
                    "required": ["source"],
                    "additionalProperties": False,
                }
            },
            "application/yaml": {"schema": {"type": "string"}},
        },
    }
}


@router.get("", response_model=models.WorkflowList)
async def list_workflows(request: Request) -> Response:
    """Every workflow that can be run."""
    caller_of(request).need("read")
    known = workflows.known(context_of(request))
    return views.answer(
        {"workflows": [views.workflow_summary(known[name]) for name in sorted(known)]}
    )


@router.post("/validate", response_model=models.WorkflowValidation, openapi_extra=_VALIDATE_BODY)
async def validate_workflow(request: Request) -> Response:
    """Check a workflow without keeping it: every problem with its line."""
    caller_of(request).need("read")
    source = await _source(request)
    try:
        compiled = await asyncio.to_thread(
            workflows.compile_source, context_of(request), source, "workflow.yaml"
        )
    except DefinitionError as error:
        problems = error.context["problems"]
        return views.answer({"valid": False, "problems": problems, "workflow": None})
    known = Known(definition=parse(source, "workflow.yaml"), source=source, origin="user")
    shown = views.workflow(known, compiled.plan, compiled.plan_hash)
    return views.answer({"valid": True, "problems": [], "workflow": shown})


async def _source(request: Request) -> str:
    body = await request.body()
    kind = request.headers.get("content-type", "").split(";", 1)[0].strip().lower()
    try:
        if kind in YAML:
            return body.decode("utf-8")
        return requests.ValidateWorkflowRequest.model_validate_json(body).source
    except UnicodeDecodeError:
        raise BadRequest("text_invalid", "The workflow is not UTF-8", hint="Send UTF-8.") from None
    except ValidationError as error:
        first: Any = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or None
        raise Refused(
            "request_invalid",
            f'The body is not {{"source": …}}: {first["msg"]}',
            hint="Send the YAML as `source`, or as it is with Content-Type: application/yaml.",
            field=field,
        ) from None


@router.get("/{name}", response_model=models.WorkflowAnswer)
async def get_workflow(request: Request, name: Name) -> Response:
    """A workflow with its source and tasks."""
    caller_of(request).need("read")
    context = context_of(request)
    known, compiled = _compiled(context, name)
    shown = views.workflow(known, compiled.plan, compiled.plan_hash)
    return views.answer({"workflow": shown})


@router.get("/{name}/versions", response_model=models.WorkflowVersions)
async def list_versions(request: Request, name: Name) -> Response:
    """The versions that orders ran with or people saved, newest first."""
    caller_of(request).need("read")
    context = context_of(request)
    known = workflows.find(context, name)
    kept = await context.store.versions.history(known.definition.name)
    return views.answer(
        {"name": known.definition.name, "versions": [views.version(one) for one in kept]}
    )


@router.post("/{name}/trigger", status_code=201, response_model=models.AgentWorkOrderResponse)
async def trigger_workflow(
    request: Request,
    name: Name,
    body: requests.TriggerWorkflowRequest,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Run a workflow: creates a work order."""
    return await created(context_of(request), body.order(name, idempotency_key), caller_of(request))


def _compiled(context: Context, name: str) -> tuple[Known, Compiled]:
    known = workflows.find(context, name)
    return known, workflows.compile_named(context, known.definition.name)
