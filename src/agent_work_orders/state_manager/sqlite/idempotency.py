"""Idempotency keys in SQLite. The contract is state_manager/idempotency.py."""

from __future__ import annotations

import sqlite3

from agent_work_orders.errors import BadRequest, Conflict
from agent_work_orders.state_manager.sqlite.named import queries
from agent_work_orders.state_manager.sqlite.text import storable
from agent_work_orders.state_manager.sqlite.writer import Writer

_SQL = queries("records")
_MAX_KEY = 255


class SqliteIdempotencyKeys:
    def __init__(self, writer: Writer) -> None:
        self._writer = writer

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

        def claim(connection: sqlite3.Connection) -> tuple[str, str]:
            connection.execute(_SQL["claim_key"], (caller, key, body_hash, order_id, at_ms))
            found = connection.execute(_SQL["find_key"], (caller, key)).fetchone()
            return str(found[0]), str(found[1])

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

    async def forget_before(self, at_ms: int) -> int:
        return await self._writer.submit(
            lambda connection: connection.execute(_SQL["forget_keys"], (at_ms,)).rowcount
        )
