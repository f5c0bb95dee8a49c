"""The governor's memory, kept in the store. The contract is `quota.QuotaMemory`."""

from __future__ import annotations

from typing import Protocol

import msgspec

from agent_work_orders.github_integration.quota import QuotaState


class QuotaStore(Protocol):
    """state_manager/sqlite/quota.py."""

    def load(self) -> list[str]: ...

    def save(self, credential: str, state: str) -> None: ...

    async def settle(self) -> None: ...


class KeptQuota:
    def __init__(self, store: QuotaStore) -> None:
        self._store = store

    def load(self) -> list[QuotaState]:
        """What cannot be read (of a newer version, or damaged) is left out: the service tells it
        again with its next answer."""
        states = []
        for text in self._store.load():
            try:
                states.append(msgspec.json.decode(text, type=QuotaState))
            except msgspec.DecodeError:
                continue
        return states

    def save(self, state: QuotaState) -> None:
        self._store.save(state.credential, msgspec.json.encode(state).decode())

    async def settle(self) -> None:
        await self._store.settle()
