"""Approvals in SQLite. The contract is state_manager/approvals.py."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

import msgspec

from agent_work_orders.errors import Conflict, NotFound
from agent_work_orders.state_manager.approvals import ApprovalRecord, ApprovalState
from agent_work_orders.state_manager.sqlite.named import queries
from agent_work_orders.state_manager.sqlite.proof import (
    DAMAGE,
    one_row,
    proven,
    readable,
    sealed,
)
from agent_work_orders.state_manager.sqlite.readers import Readers
from agent_work_orders.state_manager.sqlite.text import from_json, storable, to_json
from agent_work_orders.state_manager.sqlite.writer import Writer

_SQL = queries("records")
_FIELDS = ApprovalRecord.__struct_fields__


class SqliteApprovals:
    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers

    async def ask(self, record: ApprovalRecord) -> ApprovalRecord:
        def ask(connection: sqlite3.Connection) -> ApprovalRecord:
            connection.execute(_SQL["add_approval"], sealed("approvals", _row(record)))
            stored = _stored(connection, record.approval_id)
            if stored is None:  # damaged: the journal knows what is asked
                connection.execute(_SQL["forget_approval"], (record.approval_id,))
                connection.execute(_SQL["add_approval"], sealed("approvals", _row(record)))
            return _found(connection, record.approval_id)

        return await self._writer.submit(ask)

    async def settle(
        self,
        approval_id: str,
        state: ApprovalState,
        *,
        at_ms: int,
        by: str | None = None,
        comment: str | None = None,
        subject_hash: str | None = None,
    ) -> ApprovalRecord:
        comment = None if comment is None else storable(comment)

        def settle(connection: sqlite3.Connection) -> ApprovalRecord:
            before = _found(connection, approval_id)
            if subject_hash is not None and subject_hash != before.subject_hash:
                raise Conflict(
                    "approval_subject_changed",
                    f"approval {approval_id} is about something else by now",
                    hint="Look at the current state of the order and decide again.",
                )
            if before.state not in ("asked", state):
                raise Conflict(
                    "approval_settled",
                    f"approval {approval_id} is already {before.state}",
                    hint="The first answer counts.",
                    state=before.state,
                )
            if before.state == state:
                return before
            after = msgspec.structs.replace(
                before, state=state, decided_by=by, comment=comment, decided_at_ms=at_ms
            )
            connection.execute(_SQL["put_approval"], sealed("approvals", _row(after)))
            return after

        return await self._writer.submit(settle)

    async def get(self, approval_id: str) -> ApprovalRecord | None:
        row = self._readers.row(_SQL["get_approval"], (storable(approval_id),))
        return None if row is None else one_row(_record, row, "approvals")

    async def of_order(self, order_id: str) -> Sequence[ApprovalRecord]:
        rows = self._readers.rows(_SQL["approvals_of_order"], (storable(order_id),))
        return readable(_record, rows, "approvals")

    async def asked(self, limit: int = 100) -> Sequence[ApprovalRecord]:
        rows = self._readers.rows(_SQL["asked_approvals"], (limit,))
        return readable(_record, rows, "approvals")


def _stored(connection: sqlite3.Connection, approval_id: str) -> ApprovalRecord | None:
    """None when it cannot be read."""
    try:
        row = connection.execute(_SQL["get_approval"], (storable(approval_id),)).fetchone()
        return _record(proven("approvals", row))
    except (sqlite3.OperationalError, *DAMAGE):
        return None


def _found(connection: sqlite3.Connection, approval_id: str) -> ApprovalRecord:
    row = connection.execute(_SQL["get_approval"], (storable(approval_id),)).fetchone()
    if row is None:
        raise NotFound(
            "approval_unknown",
            f"there is no approval {approval_id[:80]}",
            hint="`awo approve` without an id lists what is asked.",
        )
    return one_row(_record, row, "approvals")


def _row(record: ApprovalRecord) -> list[Any]:
    values = [getattr(record, name) for name in _FIELDS]
    values[_FIELDS.index("subject")] = to_json(record.subject)
    return [storable(value) if isinstance(value, str) else value for value in values]


def _record(row: Sequence[Any]) -> ApprovalRecord:
    values = dict(zip(_FIELDS, row, strict=True))
    values["subject"] = from_json(values["subject"])
    return msgspec.convert(values, ApprovalRecord)
