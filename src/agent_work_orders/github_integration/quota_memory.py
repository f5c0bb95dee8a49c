"""The governor's memory, kept in the store. The contract is `quota.QuotaMemory`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from agent_work_orders.github_integration.quota import QuotaState


class QuotaStore(Protocol):
    """state_manager/quota.py."""

    async def load(self) -> list[str]: ...

    def save(self, credential: str, state: str) -> None: ...

    async def settle(self) -> None: ...


class KeptQuota:
    """Made by `opened`, which reads what was kept."""

    def __init__(self, store: QuotaStore, texts: Sequence[str]) -> None:
        self._store = store
        self._texts = texts

    @classmethod
    async def opened(cls, store: QuotaStore) -> KeptQuota:
        return cls(store, await store.load())

    def load(self) -> list[QuotaState]:
        """What cannot be read (of a newer version, or damaged) is left out: the service tells it
        again with its next answer."""
        states = []
        for text in self._texts:
            try:
                states.append(msgspec.json.decode(text, type=QuotaState))
            except msgspec.DecodeError:
                continue
        return states

    def save(self, state: QuotaState) -> None:
        self._store.save(state.credential, msgspec.json.encode(state).decode())

    async def settle(self) -> None:
        await self._store.settle()


class NoMemory:
    """For a few requests of a command that ends."""

    def load(self) -> list[QuotaState]:
        return []

    def save(self, state: QuotaState) -> None:
        return None

    async def settle(self) -> None:
        return None
