"""Sessions in SQLite. The contract is state_manager/sessions.py.

They are found by the hash of their secret: how long that takes tells nothing about the secret.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from typing import Any

import msgspec

from agent_work_orders.clock import Clock
from agent_work_orders.errors import AgentWorkOrdersError
from agent_work_orders.ids import new_id, new_secret
from agent_work_orders.state_manager.sessions import (
    ABSOLUTE_MS,
    IDLE_MS,
    MAX_PER_HOLDER,
    Session,
)
from agent_work_orders.state_manager.sqlite.keys import key_of
from agent_work_orders.state_manager.sqlite.named import queries
from agent_work_orders.state_manager.sqlite.readers import Readers
from agent_work_orders.state_manager.sqlite.text import storable
from agent_work_orders.state_manager.sqlite.writer import Writer

_SQL = queries("sessions")
_NOTE_USE_EVERY_MS = 60_000
_MAX_SECRET = 256


class SqliteSessions:
    def __init__(self, writer: Writer, readers: Readers, clock: Clock) -> None:
        self._writer = writer
        self._readers = readers
        self._clock = clock
        self._noted: dict[str, int] = {}

    async def create(self, holder: str) -> tuple[Session, str]:
        now_ms, secret = self._clock.now_ms(), new_secret()
        session = Session(
            session_id=new_id("ses"),
            holder=storable(holder),
            created_at_ms=now_ms,
            used_at_ms=now_ms,
        )

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(_SQL["forget_expired"], (now_ms - IDLE_MS, now_ms - ABSOLUTE_MS))
            connection.execute(
                _SQL["add_session"],
                (_digest(secret), session.session_id, session.holder, now_ms, now_ms),
            )
            connection.execute(_SQL["forget_unused"], (session.holder, MAX_PER_HOLDER))

        await self._writer.submit(write)
        return session, secret

    def authenticate(self, secret: str) -> Session | None:
        if not 0 < len(secret) <= _MAX_SECRET:
            return None
        row = self._readers.row(_SQL["get_session"], (_digest(storable(secret)),))
        if row is None:
            return None
        session = _session(row)
        now_ms = self._clock.now_ms()
        if now_ms >= session.expires_at_ms:
            return None
        if session.key is not None and session.key.revoked_at_ms is not None:
            return None
        return self._noted_use(session, now_ms)

    async def end(self, session_id: str) -> bool:
        found = (storable(session_id),)

        def write(connection: sqlite3.Connection) -> bool:
            return connection.execute(_SQL["end_session"], found).rowcount > 0

        self._noted.pop(session_id, None)
        return await self._writer.submit(write)

    def _noted_use(self, session: Session, now_ms: int) -> Session:
        noted_ms = max(session.used_at_ms, self._noted.get(session.session_id, 0))
        if 0 <= now_ms - noted_ms < _NOTE_USE_EVERY_MS:
            return msgspec.structs.replace(session, used_at_ms=noted_ms)
        if len(self._noted) >= 10_000:
            self._noted.clear()
        self._noted[session.session_id] = now_ms
        try:
            self._writer.submit_lazily(
                lambda connection: connection.execute(
                    _SQL["use_session"], (now_ms, session.session_id)
                )
            )
        except AgentWorkOrdersError:
            pass  # when the journal is in trouble people still need to look
        return msgspec.structs.replace(session, used_at_ms=now_ms)


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def _session(row: Sequence[Any]) -> Session:
    session_id, holder, created_at_ms, used_at_ms, *key = row
    return Session(
        session_id=session_id,
        holder=holder,
        key=None if key[0] is None else key_of(key),
        created_at_ms=created_at_ms,
        used_at_ms=used_at_ms,
    )
