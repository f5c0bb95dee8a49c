"""The application: the layers around it, the routes in it, and its description."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException

from agent_work_orders import __version__
from agent_work_orders.api import cookies, docs_page, page_secret, problems, views, webhook
from agent_work_orders.api.auth import OPEN, PUBLIC, Authentication
from agent_work_orders.api.body import Body
from agent_work_orders.api.dashboard_files import Dashboard
from agent_work_orders.api.guard import Guard
from agent_work_orders.api.live_updates import LiveUpdates
from agent_work_orders.api.request_parts import PROBLEMS
from agent_work_orders.api.routes import (
    administration,
    approvals,
    commands,
    events,
    evidence,
    github,
    orders,
    parts,
    pipeline_tasks,
    sandboxes,
    session,
    status,
    steering,
    workflows,
)
from agent_work_orders.bootstrap import House
from agent_work_orders.errors import AgentWorkOrdersError
from agent_work_orders.observability.pauses import Pause, Pauses
from agent_work_orders.settings import Settings

TITLE = "Agent Work Orders"
DESCRIPTION = (
    "A repository and a piece of work in, a verified pull request out. Every address but /healthz, "
    "/readyz, /docs, /openapi.json and the sign-in needs an API key as `Authorization: Bearer` or "
    "`X-API-Key`, or a session's cookie with the page's secret as `X-AWO-Page`. "
    "Errors are problem documents (RFC 9457) with a stable code."
)
ROUTERS = (
    orders.router,
    steering.router,
    evidence.router,
    workflows.router,
    pipeline_tasks.router,
    approvals.router,
    parts.router,
    sandboxes.router,
    commands.router,
    administration.router,
    github.router,
    session.router,
    events.router,
    status.router,
)
ANYWHERE = ("0.0.0.0", "::")


def create_app(house: House, bound: str = "") -> FastAPI:
    """`bound` is the `host:port` at which it is served, one more name to answer to."""
    settings, context = house.settings, house.context
    app = routed()
    app.state.house = house
    app.state.live_updates = LiveUpdates(context)
    app.state.draining = False
    app.state.terminals = {}

    def paused(pause: Pause, more: int) -> None:
        context.log("", "event_loop_paused", "warning", {**pause.fields(), "more": more})

    app.state.pauses = Pauses(context.clock, paused)
    _explain_errors(app)
    # The last added is the outermost.
    app.add_middleware(Body, limit_bytes=settings.server.body_limit_bytes)
    app.add_middleware(Authentication, house=house)
    app.add_middleware(Dashboard, others=_first_parts(app))
    app.add_middleware(
        webhook.Webhook,
        deliveries=context.store.deliveries,
        secrets=settings.github.webhook_secret,
        clock=context.clock,
        log=context.log,
        arrived=house.duties.intake.wake,
    )
    app.add_middleware(
        Guard,
        hosts=_names(settings, bound),
        origins=settings.server.allowed_origins,
        any_address=settings.server.host in ANYWHERE,
        log=context.log,
    )
    return app


def routed() -> FastAPI:
    """The routes and their description, without a house: enough to describe, not to serve."""
    app = FastAPI(
        title=TITLE,
        version=__version__,
        description=DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        responses=PROBLEMS,
    )
    for router in ROUTERS:
        app.include_router(router)
    _describe(app)
    return app


def _first_parts(app: FastAPI) -> set[str]:
    """`api`, `status`… of every route."""
    routes = [*app.routes, *(route for router in ROUTERS for route in router.routes)]
    paths = [str(getattr(route, "path", "")) for route in routes]
    return {path.strip("/").split("/", 1)[0] for path in paths} - {""}


def _names(settings: Settings, bound: str) -> list[str]:
    """What the server may be called, besides the names of this machine."""
    host = f"[{settings.server.host}]" if ":" in settings.server.host else settings.server.host
    own = () if settings.server.host in ANYWHERE else (host, bound)
    return [name for name in (*settings.server.allowed_hosts, *own) if name]


def _explain_errors(app: FastAPI) -> None:
    async def ours(request: Request, error: Exception) -> Response:
        assert isinstance(error, AgentWorkOrdersError)
        return problems.of(error, request.scope)

    async def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return problems.response(problems.of_validation(error), request.scope)

    async def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return problems.response(
            problems.of_http(error), request.scope, dict(error.headers or {}) or None
        )

    app.add_exception_handler(AgentWorkOrdersError, ours)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, http)


def _describe(app: FastAPI) -> None:
    openapi = _openapi_of(app)
    app.openapi = openapi  # type: ignore[method-assign]

    @app.get("/openapi.json", include_in_schema=False)
    async def openapi_json() -> Response:
        return views.answer(openapi())

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return Response(
            docs_page.page(openapi()),
            media_type="text/html",
            headers={"Content-Security-Policy": docs_page.CSP},
        )


def _openapi_of(app: FastAPI) -> Callable[[], dict[str, Any]]:
    made: dict[str, Any] = {}

    def openapi() -> dict[str, Any]:
        if not made:
            made.update(describe(app))
        return made

    return openapi


def describe(app: FastAPI) -> dict[str, Any]:
    """FastAPI's description, with the keys that it needs and the problems that it gives."""
    document = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes
    )
    schemes = document.setdefault("components", {}).setdefault("securitySchemes", {})
    schemes["bearer"] = {"type": "http", "scheme": "bearer"}
    schemes["key"] = {"type": "apiKey", "in": "header", "name": "X-API-Key"}
    schemes["session"] = {"type": "apiKey", "in": "cookie", "name": cookies.NAME}
    schemes["page"] = {"type": "apiKey", "in": "header", "name": page_secret.HEADER}
    document["security"] = [{"bearer": []}, {"key": []}, {"session": [], "page": []}]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            operation["operationId"] = operation["operationId"].split("_api_")[0]
            if path in PUBLIC or (method.upper(), path) in OPEN:
                operation["security"] = []
            # Every refusal is a problem document; FastAPI's own form is never sent.
            operation["responses"].pop("422", None)
            problem = operation["responses"]["default"]["content"]
            problem.setdefault("application/problem+json", {}).update(
                problem.pop("application/json", {})
            )
    document["paths"][webhook.PATH] = _with_problems(webhook.DESCRIPTION, document)
    for unused in ("HTTPValidationError", "ValidationError"):
        document["components"]["schemas"].pop(unused, None)
    return document


def _with_problems(path: dict[str, Any], document: dict[str, Any]) -> dict[str, Any]:
    """A path with the same refusals as every other one."""
    refusal = document["paths"]["/healthz"]["get"]["responses"]["default"]
    return {
        method: {**operation, "responses": {**operation["responses"], "default": refusal}}
        for method, operation in path.items()
    }
