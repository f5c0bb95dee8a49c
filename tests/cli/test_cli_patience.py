"""How long a command is ready to wait for a server that took its request and says nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from agent_work_orders.cli.outcome import Again, Told
from agent_work_orders.cli.over_http import OverHttp

# Somebody who looks has long wondered by then.
AT_MOST_S = 10
ORDER = "wo-0123456789abcdef"
Ask = Callable[[OverHttp], Awaitable[Any]]


def waited(ask: Ask) -> tuple[list[dict[str, float]], Told]:
    """The limits of each request that a silent server was sent, and what is said of it."""
    limits: list[dict[str, float]] = []

    def silent(request: httpx.Request) -> httpx.Response:
        limits.append(request.extensions["timeout"])
        raise httpx.ReadTimeout("nothing came", request=request)

    async def asked() -> None:
        url = "http://127.0.0.1:1"
        async with OverHttp(url, "", named=False) as client:
            await client._http.aclose()
            client._http = httpx.AsyncClient(base_url=url, transport=httpx.MockTransport(silent))
            await ask(client)

    with pytest.raises(Told) as caught:
        asyncio.run(asked())
    return limits, caught.value


@pytest.mark.parametrize(
    "ask",
    [
        lambda client: client.orders(),
        lambda client: client.order(ORDER),
        lambda client: client.watch(ORDER),
        lambda client: client.logs(ORDER, limit=1, offset=0),
        lambda client: client.transcript(ORDER, None),
        lambda client: client.artifacts(ORDER),
        lambda client: client.approvals(),
        lambda client: client.workflows(),
        lambda client: client.keys(),
        lambda client: client.deliveries(None, 1),
    ],
    ids=["list", "show", "run", "logs", "transcript", "artifacts", "approvals", "workflows", "keys",
         "deliveries"],
)  # fmt: skip
def test_who_looks_is_told_soon_and_asked_once(ask: Ask) -> None:
    limits, told = waited(ask)
    [limit] = limits
    assert 0 < limit["read"] <= AT_MOST_S and 0 < limit["connect"] <= AT_MOST_S
    assert told.code == "server_silent" and not isinstance(told, Again)
    assert "does not answer" in told.message and "may be stopped" in told.hint


@pytest.mark.parametrize(
    "ask",
    [
        lambda client: client.steer(ORDER, "cancel"),
        lambda client: client.create({"repository_url": "/r"}),
        lambda client: client.artifact(ORDER, "0" * 64),
        lambda client: client.commands("/r", None),
    ],
    ids=["cancel", "run", "artifact", "commands"],
)
def test_what_a_server_works_on_first_gets_its_time(ask: Ask) -> None:
    limits, _ = waited(ask)
    [limit] = limits
    assert limit["read"] > AT_MOST_S
