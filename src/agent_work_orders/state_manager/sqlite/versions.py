"""Workflow versions in SQLite. The contract is state_manager/versions.py."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from agent_work_orders.errors import NotFound
from agent_work_orders.state_manager.sqlite.named import queries
from agent_work_orders.state_manager.sqlite.proof import one_row, readable, sealed
from agent_work_orders.state_manager.sqlite.readers import Readers
from agent_work_orders.state_manager.sqlite.text import storable
from agent_work_orders.state_manager.sqlite.writer import Writer
from agent_work_orders.state_manager.versions import Origin, WorkflowVersion

_SQL = queries("store")
_FIELDS = WorkflowVersion.__struct_fields__


class SqliteVersions:
    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers

    async def save(
        self,
        name: str,
        *,
        hash: str,
        source: str,
        plan: bytes,
        created_by: str,
        origin: Origin,
        at_ms: int,
    ) -> WorkflowVersion:
        row = (hash, source, plan, at_ms, created_by, origin)

        def save(connection: sqlite3.Connection) -> WorkflowVersion:
            rows = connection.execute(_SQL["version_with_hash"], (name, hash)).fetchall()
            # A damaged one is passed over: its content is given here, and becomes a new version.
            known = readable(_version, rows, "workflow_versions")
            return known[0] if known else _add(connection, name, row)

        return await self._writer.submit(save)

    async def restore(
        self, name: str, version: int, *, created_by: str, at_ms: int
    ) -> WorkflowVersion:
        def restore(connection: sqlite3.Connection) -> WorkflowVersion:
            found = connection.execute(_SQL["get_version"], (name, version)).fetchone()
            if found is None:
                raise NotFound(
                    "workflow_version_unknown",
                    f"workflow {name[:80]} has no version {version}",
                    hint="The workflow's history lists its versions.",
                )
            old = one_row(_version, found, "workflow_versions")
            rows = connection.execute(_SQL["latest_version"], (name,)).fetchall()
            for latest in readable(_version, rows, "workflow_versions"):
                if latest.hash == old.hash:
                    return latest
            row = (old.hash, old.source, old.plan, at_ms, created_by, old.origin)
            return _add(connection, name, row)

        return await self._writer.submit(restore)

    async def latest(self, name: str) -> WorkflowVersion | None:
        return self._one("latest_version", storable(name))

    async def get(self, name: str, version: int) -> WorkflowVersion | None:
        return self._one("get_version", storable(name), version)

    async def by_hash(self, hash: str) -> WorkflowVersion | None:
        return self._one("version_by_hash", storable(hash))

    async def history(self, name: str) -> Sequence[WorkflowVersion]:
        rows = self._readers.rows(_SQL["version_history"], (storable(name),))
        return readable(_version, rows, "workflow_versions")

    async def names(self) -> Sequence[WorkflowVersion]:
        rows = self._readers.rows(_SQL["latest_versions"])
        return readable(_version, rows, "workflow_versions")

    def _one(self, query: str, *values: str | int) -> WorkflowVersion | None:
        row = self._readers.row(_SQL[query], values)
        return None if row is None else one_row(_version, row, "workflow_versions")


def _add(connection: sqlite3.Connection, name: str, row: tuple[Any, ...]) -> WorkflowVersion:
    [last] = connection.execute(_SQL["last_version"], (name,)).fetchone()
    values = (name, last + 1, *row)
    connection.execute(_SQL["add_version"], sealed("workflow_versions", values))
    return _version(values)


def _version(row: Sequence[Any]) -> WorkflowVersion:
    return WorkflowVersion(**dict(zip(_FIELDS, row, strict=True)))
