"""Who uses a workspace when: many that run something in it, or one that changes all of it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager


class WorkspaceLock:
    """Shared and exclusive use of one workspace. Whoever waits for it alone goes first.

    Between a look and the change that follows it nothing is awaited, and leaving
    never waits, so that no cancellation can lose a wake-up.
    """

    def __init__(self) -> None:
        self._inside = 0
        self._alone = False
        self._wanting_alone = 0
        self._sleepers: set[asyncio.Future[None]] = set()

    @property
    def in_use(self) -> bool:
        return self._inside > 0 or self._alone

    @asynccontextmanager
    async def shared(self) -> AsyncIterator[None]:
        await self._until(lambda: not self._alone and not self._wanting_alone)
        self._inside += 1
        try:
            yield
        finally:
            self._inside -= 1
            self._wake()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        self._wanting_alone += 1
        try:
            await self._until(lambda: not self.in_use)
        except BaseException:
            self._wanting_alone -= 1
            self._wake()
            raise
        self._wanting_alone -= 1
        self._alone = True
        try:
            yield
        finally:
            self._alone = False
            self._wake()

    async def _until(self, free: Callable[[], bool]) -> None:
        while not free():
            sleeper = asyncio.get_running_loop().create_future()
            self._sleepers.add(sleeper)
            try:
                await sleeper
            finally:
                self._sleepers.discard(sleeper)

    def _wake(self) -> None:
        """Everybody looks again; few wait for one workspace."""
        for sleeper in self._sleepers:
            if not sleeper.done():
                sleeper.set_result(None)


class WorkspaceLocks:
    """A lock for each sandbox, by its name; it goes when nobody uses or waits for it."""

    def __init__(self) -> None:
        self._locks: dict[str, WorkspaceLock] = {}
        self._users: Counter[str] = Counter()

    def in_use(self, name: str) -> bool:
        return name in self._locks and self._locks[name].in_use

    def users(self, name: str) -> int:
        """How many use it or wait for it."""
        return self._users[name]

    @asynccontextmanager
    async def shared(self, name: str) -> AsyncIterator[None]:
        with self._of(name) as lock:
            async with lock.shared():
                yield

    @asynccontextmanager
    async def alone(self, name: str) -> AsyncIterator[None]:
        with self._of(name) as lock:
            async with lock.alone():
                yield

    @contextmanager
    def _of(self, name: str) -> Iterator[WorkspaceLock]:
        lock = self._locks.setdefault(name, WorkspaceLock())
        self._users[name] += 1
        try:
            yield lock
        finally:
            self._users[name] -= 1
            if not self._users[name]:
                del self._users[name], self._locks[name]
