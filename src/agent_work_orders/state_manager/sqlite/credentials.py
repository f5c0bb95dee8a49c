"""Kept credentials in SQLite. The contract is state_manager/credentials.py."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from agent_work_orders.state_manager.credentials import KeptCredential
from agent_work_orders.state_manager.sqlite.named import queries
from agent_work_orders.state_manager.sqlite.proof import readable, sealed
from agent_work_orders.state_manager.sqlite.readers import Readers
from agent_work_orders.state_manager.sqlite.text import storable
from agent_work_orders.state_manager.sqlite.writer import Writer

_SQL = queries("credentials")
_FIELDS = KeptCredential.__struct_fields__


class SqliteCredentials:
    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers

    async def put(self, *kept: KeptCredential) -> None:
        rows = [_row(one) for one in kept]
        await self._writer.submit(
            lambda connection: connection.executemany(_SQL["put_credential"], rows)
        )

    async def reseal(self, anew: Callable[[KeptCredential], bytes]) -> int:
        def reseal(connection: sqlite3.Connection) -> int:
            rows = connection.execute(_SQL["all_credentials"]).fetchall()
            kept = readable(_kept, rows, "credentials")
            fresh = [(msgspec.structs.replace(one, sealed=anew(one)), one) for one in kept]
            changes = [_row(new) for new, old in fresh if new != old]
            connection.executemany(_SQL["put_credential"], changes)
            return len(changes)

        return await self._writer.submit(reseal)

    async def remove(self, name: str) -> bool:
        return await self._writer.submit(
            lambda connection: (
                connection.execute(_SQL["delete_credential"], (storable(name),)).rowcount > 0
            )
        )

    async def all(self) -> Sequence[KeptCredential]:
        return readable(_kept, self._readers.rows(_SQL["all_credentials"]), "credentials")


def _row(kept: KeptCredential) -> tuple[Any, ...]:
    values = (storable(kept.name), kept.sealed, storable(kept.last4), kept.changed_at_ms)
    return sealed("credentials", values)


def _kept(row: Sequence[object]) -> KeptCredential:
    return KeptCredential(**dict(zip(_FIELDS, row, strict=True)))  # type: ignore[arg-type]
