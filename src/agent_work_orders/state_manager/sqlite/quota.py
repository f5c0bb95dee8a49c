"""What is known of a hosting service's limits, by credential, as JSON whose meaning is the caller's
(github_integration/quota_memory.py).

Saving does not wait and cannot fail: while the journal is in trouble the newest is only in memory,
and `settle` says so.
"""

from __future__ import annotations

import sqlite3

from agent_work_orders.errors import AgentWorkOrdersError
from agent_work_orders.state_manager.sqlite.named import queries
from agent_work_orders.state_manager.sqlite.proof import readable, sealed
from agent_work_orders.state_manager.sqlite.readers import Readers
from agent_work_orders.state_manager.sqlite.text import storable
from agent_work_orders.state_manager.sqlite.writer import Writer

_SQL = queries("quota")


class SqliteQuota:
    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers
        self._unsaved: dict[str, str] = {}

    async def load(self) -> list[str]:
        return readable(lambda row: str(row[1]), self._readers.rows(_SQL["all_quota"]), "quota")

    def save(self, credential: str, state: str) -> None:
        values = sealed("quota", (storable(credential), storable(state)))
        try:
            self._writer.submit_lazily(
                lambda connection: connection.execute(_SQL["put_quota"], values)
            )
        except AgentWorkOrdersError:
            self._unsaved[credential] = state
        else:
            self._unsaved.pop(credential, None)

    async def settle(self) -> None:
        """Everything that was saved is durable afterwards. Raises what the writer raises."""
        unsaved = dict(self._unsaved)

        def write(connection: sqlite3.Connection) -> None:
            for credential, state in unsaved.items():
                values = sealed("quota", (storable(credential), storable(state)))
                connection.execute(_SQL["put_quota"], values)

        await self._writer.submit(write)
        for credential, state in unsaved.items():
            if self._unsaved.get(credential) == state:
                del self._unsaved[credential]
