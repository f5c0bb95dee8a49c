"""Many executions at once, or one that changes the whole workspace: never both."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Turnstile:
    """Shared and exclusive use of one workspace. Whoever waits for it alone goes first."""

    def __init__(self) -> None:
        self._condition = asyncio.Condition()
        self._inside = 0
        self._alone = False
        self._waiting = 0

    @property
    def in_use(self) -> bool:
        return self._inside > 0 or self._alone

    @asynccontextmanager
    async def shared(self) -> AsyncIterator[None]:
        async with self._condition:
            await self._condition.wait_for(lambda: not self._alone and not self._waiting)
            self._inside += 1
        try:
            yield
        finally:
            await self._leave(alone=False)

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        async with self._condition:
            self._waiting += 1
            try:
                await self._condition.wait_for(lambda: not self._alone and self._inside == 0)
            finally:
                self._waiting -= 1
                self._condition.notify_all()
            self._alone = True
        try:
            yield
        finally:
            await self._leave(alone=True)

    async def _leave(self, *, alone: bool) -> None:
        # No await between the change and the notification can be lost to a cancellation: the
        # lock is only ever held for a few statements.
        if alone:
            self._alone = False
        else:
            self._inside -= 1
        async with self._condition:
            self._condition.notify_all()
