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
from agent_work_orders.state_manager.keys import ApiKey
from agent_work_orders.state_manager.sessions import (
    ABSOLUTE_MS,
    IDLE_MS,
    MAX_PER_HOLDER,
    Session,
)
from agent_work_orders.state_manager.sqlite.keys import key_of
from agent_work_orders.state_manager.sqlite.named import queries
from agent_work_orders.state_manager.sqlite.proof import DAMAGE, proven, readable, sealed
from agent_work_orders.state_manager.sqlite.readers import Readers
from agent_work_orders.state_manager.sqlite.text import storable
from agent_work_orders.state_manager.sqlite.writer import Writer

_SQL = queries("sessions")
_NOTE_USE_EVERY_MS = 60_000
_MAX_SECRET = 256
_COLUMNS = 6
"""Of a session, before those of its key."""


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
            values = (_digest(secret), session.session_id, session.holder, now_ms, now_ms)
            connection.execute(_SQL["add_session"], sealed("sessions", values))
            connection.execute(_SQL["forget_unused"], (session.holder, MAX_PER_HOLDER))

        await self._writer.submit(write)
        return session, secret

    async def authenticate(self, secret: str) -> Session | None:
        if not 0 < len(secret) <= _MAX_SECRET:
            return None
        row = self._readers.row(_SQL["get_session"], (_digest(storable(secret)),))
        session = None if row is None else _whole(row)
        if session is None:
            return None
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
                lambda connection: _use(connection, session.session_id, now_ms)
            )
        except AgentWorkOrdersError:
            pass  # when the journal is in trouble people still need to look
        return msgspec.structs.replace(session, used_at_ms=now_ms)


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def _use(connection: sqlite3.Connection, session_id: str, now_ms: int) -> None:
    rows = connection.execute(_SQL["find_session"], (session_id,)).fetchall()
    for values in readable(tuple, rows, "sessions"):
        used_at_ms = max(values[4], now_ms)
        row = sealed("sessions", (*values[:4], used_at_ms))
        connection.execute(_SQL["use_session"], (used_at_ms, row[-1], session_id))


def _whole(row: Sequence[Any]) -> Session | None:
    """None when it or its key is damaged: then it opens nothing."""
    session, key = row[:_COLUMNS], row[_COLUMNS:]
    try:
        held = None if key[0] is None else key_of(proven("api_keys", key))
        return _session(proven("sessions", session), held)
    except DAMAGE:
        return None


def _session(row: Sequence[Any], key: ApiKey | None) -> Session:
    _, session_id, holder, created_at_ms, used_at_ms = row
    return Session(
        session_id=session_id,
        holder=holder,
        key=key,
        created_at_ms=created_at_ms,
        used_at_ms=used_at_ms,
    )
