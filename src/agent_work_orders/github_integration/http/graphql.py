"""What a GraphQL answer means. Pure."""

from __future__ import annotations

from typing import Any

from agent_work_orders.errors import AgentWorkOrdersError, Environmental, NotFound, Permanent
from agent_work_orders.github_integration.http.answers import MOST_ERRORS, Untrusted, printable

UNTOLD_MS = 60_000
# What GitHub calls it in `type`, in `code` and in `extensions.code`, by the age of the resolver.
_LIMITS = frozenset({"RATE_LIMITED", "RATE_LIMIT", "graphql_rate_limit"})
# Its words for a fault of its own, told with status 200; it may have happened before or after.
_FAULT = "something went wrong while executing your query"
_FORBIDDEN = ("FORBIDDEN", "INSUFFICIENT_SCOPES")


class RateLimited(Exception):
    """The quota of GraphQL is used up, and the answer did not say until when."""


def address(api_url: str) -> str:
    """GitHub Enterprise Server has it beside its REST API, not below."""
    if api_url.endswith("/api/v3"):
        return api_url.removesuffix("/v3") + "/graphql"
    return f"{api_url}/graphql"


def data(what: str, answer: Any, credential: str) -> dict[str, Any]:
    """The `data`; errors are raised as transport.py says, even beside data. Raises Untrusted, also
    when the service had a fault of its own."""
    if not isinstance(answer, dict):
        raise Untrusted("it is not an object")
    errors = answer.get("errors")
    if errors:
        raise _failure(what, errors if isinstance(errors, list) else [], credential)
    found = answer.get("data")
    if not isinstance(found, dict):
        raise Untrusted("it has no data")
    return found


def _failure(
    what: str, errors: list[Any], credential: str
) -> AgentWorkOrdersError | RateLimited | Untrusted:
    entries = [entry for entry in errors[:MOST_ERRORS] if isinstance(entry, dict)]
    kinds = [str(entry.get("type") or "") for entry in entries]
    texts = [printable(str(entry.get("message") or "")) for entry in entries]
    said = "; ".join(texts)[:500]
    if any(_LIMITS & _codes(entry) for entry in entries):
        return RateLimited(said)
    if any(_FAULT in text.lower() for text in texts):
        return Untrusted(said)
    context = {"status": 200, "said": said, "errors": texts}
    if any(kind in _FORBIDDEN for kind in kinds):
        return Environmental(
            "github_permission_missing",
            f"{credential} may not {what}: {said}",
            hint="Grant it in the settings of the App (and accept it for the installation) or of "
            "the token; the work goes on afterwards.",
            needed="",
            **context,
        )
    if "NOT_FOUND" in kinds:
        return NotFound(
            "github_not_found",
            f"GitHub knows no such thing (to {what}): {said}",
            hint="It may have been deleted.",
            **context,
        )
    return Permanent(
        "github_refused",
        f"GitHub refused to {what}: {said}",
        hint="The words of GitHub say what it misses.",
        **context,
    )


def _codes(entry: dict[str, Any]) -> set[str]:
    extensions = entry.get("extensions")
    more = extensions.get("code") if isinstance(extensions, dict) else None
    return {str(code) for code in (entry.get("type"), entry.get("code"), more) if code}
