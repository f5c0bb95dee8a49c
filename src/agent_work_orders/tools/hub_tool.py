"""What the tools of a hub share: where the order is at home there, and what it is about."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from agent_work_orders.errors import Permanent
from agent_work_orders.github_integration.forge import Hub, Repository
from agent_work_orders.github_integration.forges import Forges
from agent_work_orders.tools.schema import Schema, integer, nullable, text
from agent_work_orders.tools.tool import JsonObject, Order, ToolContext
from agent_work_orders.workflow_engine.catalogue import ToolInfo

NUMBER = nullable(integer("The issue or pull request; what the order is about when absent or 0"))
HEAD = nullable(text("The commit; the order's own when absent"))
SHA_LENGTHS = (40, 64)


class HubTool(ABC):
    """`redact` takes secrets out of every text that leaves."""

    info: ToolInfo
    needs: Mapping[str, str] = {}
    """Permissions of an App beyond those that every order needs."""

    def __init__(self, forges: Forges, redact: Callable[[str], str]) -> None:
        self._forges = forges
        self._redact = redact

    def _at(self, ctx: ToolContext) -> tuple[Hub, Repository]:
        return self._forges.hub_at(ctx.order.repository, ctx.order.repository_url)

    @abstractmethod
    async def __call__(self, ctx: ToolContext, *args: Any, **inputs: Any) -> JsonObject: ...


def number_of(order: Order, given: int | None) -> int:
    """Permanent `github_number_missing`."""
    about = order.github or {}
    found = given or about.get("pull_request") or about.get("issue") or order.github_issue_number
    if not found:
        raise Permanent(
            "github_number_missing",
            "Neither the task nor the order names an issue or a pull request",
            hint="Give the task a `number`, or create the order for an issue.",
        )
    return int(found)


async def remembered(
    ctx: ToolContext, name: str, read: Callable[[], Awaitable[JsonObject]]
) -> JsonObject:
    """What was there before the task's first try: it is what an undo restores. A later try would
    read what an earlier one has changed."""

    async def never() -> JsonObject | None:
        return None

    return await ctx.once(
        f"{ctx.key}:{name}", what=f"remember {name}", intent={}, look=never, do=read
    )


def head_of(order: Order, given: str | None) -> str:
    """Permanent `github_head_missing`."""
    found = given or (order.github or {}).get("head_sha") or ""
    if len(found) not in SHA_LENGTHS or not all(char in "0123456789abcdef" for char in found):
        raise Permanent(
            "github_head_missing",
            f"{found[:80]!r} is not a commit",
            hint="Give the task a `head_sha`, such as the `head` of forge.open_pull_request.",
        )
    return str(found)


def listing(description: str, **properties: Any) -> Schema:
    """A list of objects with these fields."""
    return {
        "type": "array",
        "description": description,
        "items": {"type": "object", "properties": properties},
    }
