"""Errors on the wire: RFC 9457 problem documents, whatever went wrong.

What a caller did wrong is said in full. What failed on our side is said in our own words, without
paths of this machine; a bug is only a number to look up in the log (`request_id`).
"""

from __future__ import annotations

from typing import Any, get_args

import msgspec
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from agent_work_orders.api import dashboard_files
from agent_work_orders.errors import (
    AgentWorkOrdersError,
    Broken,
    Environmental,
    Failed,
    Refused,
    Transient,
)
from agent_work_orders.work_orders.pipeline_tasks import TaskType

MEDIA_TYPE = "application/problem+json"
MAX_ERRORS = 50
_FULL = frozenset({"disk_full", "journal_full"})
_TITLES = {
    400: "Bad request",
    401: "Unauthenticated",
    403: "Forbidden",
    404: "Not found",
    405: "Method not allowed",
    408: "Too slow",
    409: "Conflict",
    413: "Too large",
    415: "Unsupported media type",
    422: "Not valid",
    429: "Too many requests",
    431: "Head too large",
    500: "Internal error",
    502: "A part we depend on failed",
    503: "Unavailable",
    507: "Disk full",
}
# Parts of a finding's place that nobody sent: where it was, and which shape a task's type chose.
_NOT_FIELDS = frozenset({"body", "query", "path", "header", *get_args(TaskType)})
_FIXES = {
    "missing": "Add this field.",
    "extra_forbidden": "Remove this field; only the documented ones can be set.",
    "string_type": "Send text (in quotes).",
    "json_invalid": "Send valid JSON.",
    "union_tag_not_found": "Add `type`.",
    "union_tag_invalid": "Use one of the documented types.",
}


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    type: str
    title: str
    status: int
    detail: str
    code: str
    hint: str | None = None
    field: str | None = None
    errors: list[dict[str, Any]] = []
    instance: str | None = None
    request_id: str | None = None


def of_error(error: AgentWorkOrdersError) -> Problem:
    """What a failure of ours looks like to the caller."""
    status = status_of(error)
    field = error.field if isinstance(error, Refused) else None
    detail = error.message
    if isinstance(error, Broken):
        detail = "The server cannot trust its own data here; nothing was changed"
    return make(
        status, error.code, detail, hint=error.hint, field=field, errors=_errors(error.context)
    )


def status_of(error: AgentWorkOrdersError) -> int:
    if isinstance(error, Refused):
        return error.status
    if error.code in _FULL:
        return 507
    if isinstance(error, Transient | Environmental):
        return 503
    return 502 if isinstance(error, Failed) else 500


def retry_after(error: AgentWorkOrdersError) -> int | None:
    """Seconds for Retry-After, if coming back later is worth it."""
    given = error.context.get("retry_after_s")
    if given is not None:
        return max(1, round(float(given)))
    return 5 if status_of(error) == 503 else None


def of_validation(error: RequestValidationError) -> Problem:
    """FastAPI's findings, with the name of each field and what to do."""
    found = [_finding(one) for one in error.errors()[:MAX_ERRORS]]
    first = found[0] if found else {"field": None, "message": "The request is not valid"}
    where = f"{first['field']}: " if first["field"] else ""
    return make(
        422,
        "request_invalid",
        f"{where}{first['message']}",
        hint=first.get("hint") or "See docs/API.md for what this route takes.",
        field=first["field"],
        errors=found,
    )


def of_http(error: HTTPException) -> Problem:
    match error.status_code:
        case 404:
            return make(404, "route_unknown", "There is nothing at this address", hint="See /docs.")
        case 405:
            return make(
                405,
                "method_not_allowed",
                "This address does not take that method",
                hint="See /docs.",
            )
    return make(error.status_code, "request_invalid", str(error.detail)[:500])


def internal() -> Problem:
    return make(
        500,
        "internal_error",
        "Something unexpected happened on the server; it is in the server's log",
        hint="Tell the operator the request_id.",
    )


def make(
    status: int,
    code: str,
    detail: str,
    *,
    hint: str = "",
    field: str | None = None,
    errors: list[dict[str, Any]] | None = None,
) -> Problem:
    return Problem(
        type=f"urn:agent-work-orders:problem:{code}",
        title=_TITLES.get(status, "Error"),
        status=status,
        detail=detail,
        code=code,
        hint=hint or None,
        field=field,
        errors=errors or [],
    )


def response(problem: Problem, scope: Any, headers: dict[str, str] | None = None) -> Response:
    whole = msgspec.structs.replace(
        problem,
        instance=_text(scope.get("path", "")),
        request_id=scope.get("state", {}).get("request_id"),
    )
    if dashboard_files.is_visit(scope):
        page = dashboard_files.trouble(
            whole.detail, whole.hint or "", f"{whole.code}, request {whole.request_id or ''}"
        )
        return Response(page, problem.status, headers, media_type="text/html")
    content = msgspec.json.encode(msgspec.structs.replace(whole, detail=_text(whole.detail)))
    return Response(content, status_code=problem.status, headers=headers, media_type=MEDIA_TYPE)


def of(error: AgentWorkOrdersError, scope: Any) -> Response:
    headers = {}
    later = retry_after(error)
    if later is not None:
        headers["Retry-After"] = str(later)
    if status_of(error) == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="agent-work-orders"'
    return response(of_error(error), scope, headers)


def _errors(context: dict[str, Any]) -> list[dict[str, Any]]:
    """A workflow's problems, each with its line."""
    problems = context.get("problems")
    return list(problems)[:MAX_ERRORS] if isinstance(problems, list) else []


def _finding(one: Any) -> dict[str, Any]:
    where = [str(part) for part in one["loc"] if part not in _NOT_FIELDS]
    if one["type"] == "json_invalid":
        where = []
    found = {"field": ".".join(where) or None, "message": str(one["msg"]), "type": one["type"]}
    hint = _FIXES.get(one["type"])
    return found if hint is None else {**found, "hint": hint}


def _text(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
