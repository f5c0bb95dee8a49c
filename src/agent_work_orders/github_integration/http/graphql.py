"""What a GraphQL answer means. Pure."""

from __future__ import annotations

from typing import Any

from agent_work_orders.errors import AgentWorkOrdersError, Environmental, NotFound, Permanent
from agent_work_orders.github_integration.http.answers import MOST_ERRORS, Untrusted, printable

UNTOLD_MS = 60_000
_FORBIDDEN = ("FORBIDDEN", "INSUFFICIENT_SCOPES")


class RateLimited(Exception):
    """The quota of GraphQL is used up, and the answer did not say until when."""


def address(api_url: str) -> str:
    """GitHub Enterprise Server has it beside its REST API, not below."""
    if api_url.endswith("/api/v3"):
        return api_url.removesuffix("/v3") + "/graphql"
    return f"{api_url}/graphql"


def data(what: str, answer: Any, credential: str) -> dict[str, Any]:
    """The `data`; errors are raised as transport.py says, even beside data. Raises Untrusted."""
    if not isinstance(answer, dict):
        raise Untrusted("it is not an object")
    errors = answer.get("errors")
    if errors:
        raise _failure(what, errors if isinstance(errors, list) else [], credential)
    found = answer.get("data")
    if not isinstance(found, dict):
        raise Untrusted("it has no data")
    return found


def _failure(what: str, errors: list[Any], credential: str) -> AgentWorkOrdersError | RateLimited:
    entries = [entry for entry in errors[:MOST_ERRORS] if isinstance(entry, dict)]
    kinds = [str(entry.get("type") or "") for entry in entries]
    texts = [printable(str(entry.get("message") or "")) for entry in entries]
    said = "; ".join(texts)[:500]
    if "RATE_LIMITED" in kinds:
        return RateLimited(said)
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
