"""API keys in SQLite. The contract is state_manager/keys.py.

A secret has 256 random bits, so one round of SHA-256 is enough: there is nothing to guess.
"""

from __future__ import annotations

import hashlib
import hmac
import sqlite3
from collections.abc import Sequence
from typing import Any

import msgspec

from agent_work_orders.clock import Clock
from agent_work_orders.errors import AgentWorkOrdersError, NotFound, Refused
from agent_work_orders.ids import new_id, new_secret
from agent_work_orders.state_manager.keys import ApiKey, Role
from agent_work_orders.state_manager.sqlite.named import queries
from agent_work_orders.state_manager.sqlite.proof import DAMAGE, proven, readable, sealed
from agent_work_orders.state_manager.sqlite.readers import Readers
from agent_work_orders.state_manager.sqlite.text import from_json, storable, to_json
from agent_work_orders.state_manager.sqlite.writer import Writer

_SQL = queries("store")
_NOTE_USE_EVERY_MS = 60_000
_MAX_TOKEN = 256
_NOBODY = bytes(32)


class SqliteKeys:
    def __init__(self, writer: Writer, readers: Readers, clock: Clock) -> None:
        self._writer = writer
        self._readers = readers
        self._clock = clock
        self._noted: dict[str, int] = {}

    async def create(
        self, name: str, role: Role, *, repositories: Sequence[str] | None = None
    ) -> tuple[ApiKey, str]:
        if repositories is not None and not repositories:
            raise Refused(
                "key_repositories_empty",
                "A key for no repository at all could do nothing",
                hint="Name at least one repository, or leave them out for all.",
                field="repositories",
            )
        secret = new_secret()
        key = ApiKey(
            key_id=new_id("key"),
            name=storable(name),
            role=role,
            repositories=None if repositories is None else tuple(repositories),
            created_at_ms=self._clock.now_ms(),
        )
        row = _row(key, _digest(secret))
        await self._writer.submit(lambda connection: connection.execute(_SQL["put_api_key"], row))
        return key, f"{key.key_id}.{secret}"

    async def authenticate(self, token: str) -> ApiKey | None:
        if len(token) > _MAX_TOKEN:
            return None
        key_id, _, secret = storable(token).partition(".")
        # A damaged key opens nothing, as if it were not there.
        rows = readable(_held, self._readers.rows(_SQL["get_api_key"], (key_id,)), "api_keys")
        key, digest = rows[0] if rows else (None, _NOBODY)
        right = hmac.compare_digest(_digest(secret), digest)
        if key is None or not right or key.revoked_at_ms is not None:
            return None
        self._note_use(key)
        return key

    async def revoke(self, key_id: str) -> ApiKey:
        at_ms, key_id = self._clock.now_ms(), storable(key_id)

        def revoke(connection: sqlite3.Connection) -> ApiKey:
            row = connection.execute(_SQL["get_api_key"], (key_id,)).fetchone()
            if row is None:
                raise NotFound(
                    "api_key_unknown",
                    f"there is no key {key_id[:80]}",
                    hint="`awo key list` shows the keys there are.",
                )
            key, digest = _held_or_lost(row)
            if key.revoked_at_ms is None:
                key = msgspec.structs.replace(key, revoked_at_ms=at_ms)
                connection.execute(_SQL["put_api_key"], _row(key, digest))
            return key

        return await self._writer.submit(revoke)

    async def all(self) -> Sequence[ApiKey]:
        return readable(key_of, self._readers.rows(_SQL["all_api_keys"]), "api_keys")

    def _note_use(self, key: ApiKey) -> None:
        now_ms = self._clock.now_ms()
        noted_ms = self._noted.get(key.key_id, key.last_used_at_ms)
        if noted_ms is not None and 0 <= now_ms - noted_ms < _NOTE_USE_EVERY_MS:
            return
        self._noted[key.key_id] = now_ms
        try:
            self._writer.submit_lazily(lambda connection: _use(connection, key.key_id, now_ms))
        except AgentWorkOrdersError:
            pass  # when the journal is in trouble people still need to look


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def _use(connection: sqlite3.Connection, key_id: str, now_ms: int) -> None:
    rows = connection.execute(_SQL["get_api_key"], (key_id,)).fetchall()
    for key, digest in readable(_held, rows, "api_keys"):
        used = msgspec.structs.replace(key, last_used_at_ms=now_ms)
        connection.execute(_SQL["put_api_key"], _row(used, digest))


def _row(key: ApiKey, digest: bytes) -> tuple[Any, ...]:
    repositories = to_json(key.repositories)
    made = (key.key_id, key.name, key.role, digest, repositories, key.created_at_ms)
    return sealed("api_keys", (*made, key.revoked_at_ms, key.last_used_at_ms))


def _held(row: Sequence[Any]) -> tuple[ApiKey, bytes]:
    return key_of(row), row[3]


def _held_or_lost(row: Sequence[Any]) -> tuple[ApiKey, bytes]:
    """What is revoked need not be known any more: a damaged key can be put away for good."""
    try:
        return _held(proven("api_keys", row))
    except DAMAGE:
        lost = ApiKey(
            key_id=row[0], name="(damaged)", role="viewer", repositories=None, created_at_ms=0
        )
        return lost, _NOBODY


def key_of(row: Sequence[Any]) -> ApiKey:
    """From the columns of `get_api_key`, without the checksum."""
    key_id, name, role, _, repositories, created_at_ms, revoked_at_ms, last_used_at_ms = row
    return ApiKey(
        key_id=key_id,
        name=name,
        role=role,
        repositories=msgspec.convert(from_json(repositories), tuple[str, ...] | None),
        created_at_ms=created_at_ms,
        revoked_at_ms=revoked_at_ms,
        last_used_at_ms=last_used_at_ms,
    )
