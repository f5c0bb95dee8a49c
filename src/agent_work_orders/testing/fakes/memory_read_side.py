"""What people look at, in dictionaries. The contracts are in state_manager: records, approvals,
logbook, feed, versions. A lazy write is there at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from agent_work_orders.errors import BadRequest, Conflict, NotFound
from agent_work_orders.ids import is_order_prefix
from agent_work_orders.state_manager.approvals import ApprovalRecord, ApprovalState
from agent_work_orders.state_manager.feed import FeedRow
from agent_work_orders.state_manager.logbook import (
    EVERY_LINE,
    MAX_FIELDS_BYTES,
    LogEntry,
    LogFilter,
    LogPage,
)
from agent_work_orders.state_manager.records import (
    EVERY_ORDER,
    MAX_CANDIDATES,
    MAX_LIMIT,
    MAX_TEXT,
    OrderBy,
    OrderFilter,
    OrderPage,
    OrderRecord,
)
from agent_work_orders.state_manager.versions import Origin, WorkflowVersion

_PRIORITIES = ("low", "medium", "high", "urgent")
_ORDER_BY: dict[str, Callable[[OrderRecord], Any]] = {
    "created_at": lambda one: one.created_at_ms,
    "updated_at": lambda one: one.updated_at_ms,
    "status": lambda one: one.status,
    "priority": lambda one: _PRIORITIES.index(one.priority),
    "repository": lambda one: one.repository,
    "cost": lambda one: one.cost_usd,
}


class MemoryApprovals:
    def __init__(self) -> None:
        self.stored: dict[str, ApprovalRecord] = {}

    async def ask(self, record: ApprovalRecord) -> ApprovalRecord:
        return self.stored.setdefault(record.approval_id, record)

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
        before = self.stored.get(approval_id)
        if before is None:
            raise NotFound("approval_unknown", f"there is no approval {approval_id[:80]}")
        if subject_hash is not None and subject_hash != before.subject_hash:
            raise Conflict("approval_subject_changed", f"{approval_id} is about something else")
        if before.state not in ("asked", state):
            raise Conflict("approval_settled", f"{approval_id} is already {before.state}")
        if before.state == "asked":
            self.stored[approval_id] = replace(
                before, state=state, decided_by=by, comment=comment, decided_at_ms=at_ms
            )
        return self.stored[approval_id]

    async def get(self, approval_id: str) -> ApprovalRecord | None:
        return self.stored.get(approval_id)

    async def of_order(self, order_id: str) -> Sequence[ApprovalRecord]:
        return [one for one in self._in_time() if one.order_id == order_id]

    async def asked(self, limit: int = 100) -> Sequence[ApprovalRecord]:
        return [one for one in self._in_time() if one.state == "asked"][:limit]

    def _in_time(self) -> list[ApprovalRecord]:
        return sorted(self.stored.values(), key=lambda one: (one.asked_at_ms, one.approval_id))


class MemoryRecords:
    def __init__(self, approvals: MemoryApprovals) -> None:
        self._approvals = approvals
        self._lines: dict[str, OrderRecord] = {}

    async def upsert(self, record: OrderRecord) -> None:
        self.upsert_lazily(record)

    def upsert_lazily(self, record: OrderRecord) -> None:
        known = self._lines.get(record.agent_work_order_id)
        if known is None or known.run_seq <= record.run_seq:
            self._lines[record.agent_work_order_id] = record

    async def get(self, order_id: str) -> OrderRecord | None:
        return self._lines.get(order_id)

    async def find_by_prefix(self, prefix: str) -> Sequence[str]:
        if not is_order_prefix(prefix):
            raise BadRequest(
                "order_prefix_invalid", f"{prefix[:40]!r} is not the beginning of a work order's id"
            )
        start = prefix if prefix.startswith("wo-") else "wo-" + prefix
        return sorted(one for one in self._lines if one.startswith(start))[:MAX_CANDIDATES]

    async def page(
        self,
        wanted: OrderFilter = EVERY_ORDER,
        *,
        order_by: OrderBy = "created_at",
        descending: bool = True,
        limit: int = 50,
        offset: int = 0,
    ) -> OrderPage:
        key = _ORDER_BY.get(order_by)
        if key is None:
            raise BadRequest("order_by_invalid", f"cannot sort by {str(order_by)[:40]!r}")
        _check_page(limit, offset)
        _check_text(wanted.text)
        found = [one for one in self._lines.values() if _wanted(one, wanted)]
        found.sort(key=lambda one: (key(one), one.agent_work_order_id), reverse=descending)
        shown = tuple(found[offset : offset + limit])
        return OrderPage(
            agent_work_orders=shown,
            total_count=len(found),
            has_more=offset + len(shown) < len(found),
        )

    async def counts(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for one in self._lines.values():
            counts[one.status] = counts.get(one.status, 0) + 1
        return counts

    async def truncate_projection(self) -> None:
        self._lines.clear()
        self._approvals.stored.clear()


class MemoryLogbook:
    def __init__(self) -> None:
        self._lines: dict[str, list[LogEntry]] = {}

    def add(
        self, order_id: str, *, at_ms: int, level: str, event: str, fields: dict[str, Any]
    ) -> LogEntry:
        size = len(msgspec.json.encode(fields))
        if size > MAX_FIELDS_BYTES:
            fields = {"dropped": f"{size} characters of fields"}
        lines = self._lines.setdefault(order_id, [])
        entry = LogEntry(
            order_id=order_id,
            n=len(lines) + 1,
            at_ms=at_ms,
            level=level,
            event=event,
            fields=fields,
        )
        lines.append(entry)
        return entry

    async def page(
        self,
        order_id: str,
        wanted: LogFilter = EVERY_LINE,
        *,
        limit: int = 100,
        offset: int = 0,
        descending: bool = False,
    ) -> LogPage:
        _check_page(limit, offset)
        _check_text(wanted.text)
        matching = [one for one in self._lines.get(order_id, []) if _matches(one, wanted)]
        found = [one for one in matching if one.n > wanted.after]
        if descending:
            found.reverse()
        return LogPage(
            log_entries=tuple(found[offset : offset + limit]),
            total_count=len(matching),
            has_more=len(found) > offset + limit,
        )

    async def after(self, order_id: str, n: int, limit: int = 100) -> Sequence[LogEntry]:
        _check_page(limit, 0)
        return [one for one in self._lines.get(order_id, []) if one.n > n][:limit]


class MemoryFeed:
    def __init__(self) -> None:
        self._rows: list[FeedRow] = []
        self._last = 0

    def publish(self, order_id: str, kind: str, at_ms: int, body: bytes) -> FeedRow:
        self._last += 1
        row = FeedRow(n=self._last, order_id=order_id, kind=kind, at_ms=at_ms, body=body)
        self._rows.append(row)
        return row

    async def after(
        self, n: int, limit: int = 500, order_id: str | None = None
    ) -> Sequence[FeedRow]:
        found = [one for one in self._rows if one.n > n and order_id in (None, one.order_id)]
        return found[:limit]

    async def oldest(self) -> int:
        return self._rows[0].n if self._rows else 0

    def latest(self) -> int:
        return self._last

    async def trim(self, keep: int) -> int:
        gone = max(0, len(self._rows) - keep)
        del self._rows[:gone]
        return gone


class MemoryVersions:
    def __init__(self) -> None:
        self._stored: list[WorkflowVersion] = []

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
        for one in await self.history(name):
            if one.hash == hash:
                return one
        latest = await self.latest(name)
        made = WorkflowVersion(
            name=name,
            version=1 if latest is None else latest.version + 1,
            hash=hash,
            source=source,
            plan=plan,
            created_at_ms=at_ms,
            created_by=created_by,
            origin=origin,
        )
        self._stored.append(made)
        return made

    async def restore(
        self, name: str, version: int, *, created_by: str, at_ms: int
    ) -> WorkflowVersion:
        old, latest = await self.get(name, version), await self.latest(name)
        if old is None or latest is None:
            raise NotFound("workflow_version_unknown", f"{name[:80]} has no version {version}")
        if latest.hash == old.hash:
            return latest
        number = latest.version + 1
        made = replace(old, version=number, created_by=created_by, created_at_ms=at_ms)
        self._stored.append(made)
        return made

    async def latest(self, name: str) -> WorkflowVersion | None:
        return next(iter(await self.history(name)), None)

    async def get(self, name: str, version: int) -> WorkflowVersion | None:
        found = await self.history(name)
        return next((one for one in found if one.version == version), None)

    async def by_hash(self, hash: str) -> WorkflowVersion | None:
        return next((one for one in reversed(self._stored) if one.hash == hash), None)

    async def history(self, name: str) -> Sequence[WorkflowVersion]:
        return [one for one in reversed(self._stored) if one.name == name]

    async def names(self) -> Sequence[WorkflowVersion]:
        latest = {one.name: one for one in self._stored}
        return [latest[name] for name in sorted(latest)]


def _wanted(one: OrderRecord, wanted: OrderFilter) -> bool:
    searched = (
        one.agent_work_order_id,
        one.repository_url,
        one.title,
        one.initial_prompt,
        one.git_branch_name,
        one.github_issue_number,
    )
    return (
        (not wanted.status or one.status in wanted.status)
        and (wanted.repositories is None or one.repository in wanted.repositories)
        and wanted.repository in (None, one.repository)
        and wanted.workflow in (None, one.workflow_type)
        and any(_found(wanted.text, text) for text in searched)
    )


def _matches(one: LogEntry, wanted: LogFilter) -> bool:
    fields = msgspec.json.encode(one.fields).decode()
    return (not wanted.level or one.level == wanted.level) and (
        _found(wanted.text, one.event) or _found(wanted.text, fields)
    )


def _found(text: str | None, where: str | None) -> bool:
    return not text or (where is not None and text.lower() in where.lower())


def _check_page(limit: int, offset: int) -> None:
    if not 0 < limit <= MAX_LIMIT or not 0 <= offset < 2**62:
        raise BadRequest("limit_invalid", f"limit {limit} or offset {offset} is out of range")


def _check_text(text: str | None) -> None:
    if text is not None and len(text) > MAX_TEXT:
        raise BadRequest("search_too_long", f"search for at most {MAX_TEXT} characters")
