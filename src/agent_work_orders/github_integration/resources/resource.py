"""What all parts of the forge of GitHub share: who we are, how we ask, and how we write texts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar
from urllib.parse import quote

from agent_work_orders.github_integration.forge import Repository
from agent_work_orders.github_integration.quota import Priority
from agent_work_orders.github_integration.resources import markers, wire
from agent_work_orders.github_integration.transport import Method, Transport

Sleep = Callable[[float], Awaitable[None]]
T = TypeVar("T")
# How long a list of GitHub may lag behind what was just created (FAULTS D11): looking for a write
# whose answer was lost must not miss it.
REREAD_S = (0.5, 2.0)


class Resource:
    def __init__(
        self,
        transport: Transport,
        *,
        hosts: frozenset[str] = frozenset({"github.com"}),
        public_url: str = "",
        priority: Priority = "order",
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        """`hosts` may be linked and shown in what we write; `public_url` is the dashboard's."""
        self._transport = transport
        self._hosts = hosts
        self._public_url = public_url
        self._priority = priority
        self._sleep = sleep

    async def need(self, repository: Repository, permissions: Mapping[str, str]) -> None:
        await self._transport.need(repository, permissions)

    async def our_login(self) -> str:
        return await self._transport.account()

    async def _get(self, repository: Repository, path: str, **query: str | int) -> Any:
        return await self._transport.get(
            repository, path, query=query or None, priority=self._priority, fresh=True
        )

    async def _send(
        self,
        method: Method,
        repository: Repository,
        path: str,
        body: dict[str, Any] | None = None,
        *,
        creates: bool = False,
    ) -> Any:
        return await self._transport.send(
            method, repository, path, body, priority=self._priority, creates=creates
        )

    async def _pages(
        self,
        repository: Repository,
        path: str,
        kind: type[T],
        *,
        items: str | None = None,
        **query: str | int,
    ) -> list[T]:
        found = await self._transport.pages(
            repository,
            path,
            query=query or None,
            items=items,
            priority=self._priority,
            fresh=True,
        )
        return [wire.read(one, kind) for one in found]

    async def _graphql(
        self, repository: Repository, query: str, *, writes: bool, **variables: Any
    ) -> dict[str, Any]:
        return await self._transport.graphql(
            repository, query, variables, writes=writes, priority=self._priority
        )

    async def _look(self, look: Callable[[], Awaitable[T | None]]) -> T | None:
        """What was written may show late: nothing is believed only after some time."""
        found = await look()
        for delay_s in REREAD_S:
            if found is not None:
                break
            await self._sleep(delay_s)
            found = await look()
        return found

    async def _ours(self, user: wire.User | None) -> bool:
        return wire.login(user).lower() == (await self.our_login()).lower()

    def _link(self, order_id: str) -> str:
        url = self._public_url
        return f"[Look at the work order]({url}/orders/{order_id})" if url else ""

    def _seal(self, text: str, key: str, ours: str = "") -> str:
        return markers.seal(text, key, self._hosts, ours=ours)


def segment(text: str) -> str:
    """A name as one part of a path."""
    return quote(text, safe="")
