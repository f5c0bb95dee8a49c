"""Idempotency keys in SQLite. The contract is state_manager/idempotency.py."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from agent_work_orders.errors import BadRequest, Conflict
from agent_work_orders.state_manager.damaged_row import DamagedRow
from agent_work_orders.state_manager.sqlite.named import queries
from agent_work_orders.state_manager.sqlite.proof import DAMAGE, proven, readable, sealed
from agent_work_orders.state_manager.sqlite.text import storable
from agent_work_orders.state_manager.sqlite.writer import Writer

_SQL = queries("records")
_MAX_KEY = 255


class SqliteIdempotencyKeys:
    def __init__(self, writer: Writer, damaged: Sequence[DamagedRow] = ()) -> None:
        """`damaged` are rows of here that a key may not find any more."""
        self._writer = writer
        self._damaged = [one.values for one in damaged if one.table == "idempotency_keys"]

    async def claim(
        self, caller: str, key: str, *, body_hash: str, order_id: str, at_ms: int
    ) -> str:
        if not 0 < len(key) <= _MAX_KEY or storable(key) != key:
            raise BadRequest(
                "idempotency_key_invalid",
                f"an idempotency key has 1 to {_MAX_KEY} characters",
                hint="Use a random text such as a UUID.",
                field="Idempotency-Key",
            )
        row = (caller, key, body_hash, order_id, at_ms)

        def claim(connection: sqlite3.Connection) -> tuple[str, str]:
            found = connection.execute(_SQL["find_key"], (caller, key)).fetchone()
            if found is None:
                self._doubt(row)
                connection.execute(_SQL["claim_key"], sealed("idempotency_keys", row))
                return body_hash, order_id
            try:
                _, _, first_hash, first_order, _ = proven("idempotency_keys", found)
            except DAMAGE as error:
                raise _unclear() from error
            return first_hash, first_order

        first_hash, first_order = await self._writer.submit(claim)
        if first_hash != body_hash:
            raise Conflict(
                "idempotency_key_reused",
                f"this idempotency key belongs to another request (order {first_order})",
                hint="Use a new key for a new request.",
                field="Idempotency-Key",
                order_id=first_order,
            )
        return first_order

    def _doubt(self, row: tuple[str, str, str, str, int]) -> None:
        """A row whose caller or key was damaged is not found. What it has left tells it."""
        caller, key, body_hash, _, _ = row
        for known in self._damaged:
            if known and (known[1] == key or (known[0], known[2]) == (caller, body_hash)):
                raise _unclear()

    async def forget_before(self, at_ms: int) -> int:
        """One whose time may be what is damaged stays: its key must not make a second order."""

        def forget(connection: sqlite3.Connection) -> int:
            old = connection.execute(_SQL["old_keys"], (at_ms,)).fetchall()
            whole = readable(lambda row: (row[0], row[1]), old, "idempotency_keys")
            connection.executemany(_SQL["forget_key"], whole)
            return len(whole)

        return await self._writer.submit(forget)


def _unclear() -> Conflict:
    return Conflict(
        "idempotency_key_damaged",
        "what this idempotency key was used for cannot be read any more",
        hint="Look whether the order is there (`awo list`); if it is not, ask with a new key.",
        field="Idempotency-Key",
    )
