"""Lists in pages: only what is on the page is made into JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from github_simulator.asking import access, pages
from github_simulator.call import Answer, Call

T = TypeVar("T")


def page(
    call: Call,
    items: Sequence[T],
    shape: Callable[[T], Any],
    *,
    under: str = "",
    extra: dict[str, Any] | None = None,
) -> Answer:
    """One page. Some lists stand `under` a name, beside the number of all."""
    asked = pages.asked(call.query)
    shown: Any = [shape(item) for item in asked.of(items)]
    if under:
        shown = {"total_count": len(items), **(extra or {}), under: shown}
    link = pages.link(_address(call), call.query, asked, len(items))
    return Answer(body=shown, headers={} if link is None else {"link": link})


def _address(call: Call) -> str:
    """GitHub's links name the repository by its id."""
    path = call.path
    if "owner" in call.params and "repo" in call.params:
        rest = path.split("/", 4)[4:]
        path = "/".join([f"/repositories/{access.repository(call).id}", *rest])
    return f"{call.world.api_url}{path}"
