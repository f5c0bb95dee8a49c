"""What `awo doctor` finds in the data directory. Nothing here writes, and no damage stops it."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Literal

import msgspec

from agent_work_orders.clock import SystemClock
from agent_work_orders.errors import AgentWorkOrdersError
from agent_work_orders.ids import ORDER_ID
from agent_work_orders.sandbox_manager.local.sandboxes import LOST
from agent_work_orders.state_manager.sqlite.archive import SqliteArchive
from agent_work_orders.state_manager.sqlite.database import DATABASE_NAME
from agent_work_orders.work_orders.read_side.rebuild import differences

SHOWN = 5
_RESTORE = "The disk or somebody changed it: restore a backup."
_REBUILD = "Lists are made again from the journal: stop the server, then `awo doctor --rebuild`."
_FADES = "What is missing there stops no order; a backup has it."
_REMEDIES = {
    "api_keys": "A damaged key opens nothing: `awo key revoke KEY`, and create another.",
    "approvals": _REBUILD,
    "credentials": "A damaged credential is not used: enter it again: `awo credentials set NAME`.",
    "deliveries": "A damaged delivery is not handled: have it sent again (`awo deliveries list`).",
    "feed": _FADES,
    "log_entries": _FADES,
    "orders": _REBUILD,
    "quota": "It is asked for again by itself.",
    "sessions": "A damaged session opens nothing: sign in again.",
}
"""What to do about a damaged row, where there is something easier than a backup."""
_ENDED = ("completed", "failed", "cancelled")
_TRACES = (
    "workspaces/*", "transcripts/*", "logs/agent_work_orders/*/*", f"{LOST}/workspaces/*",
)  # fmt: skip
_DAMAGE = (AgentWorkOrdersError, sqlite3.Error, msgspec.MsgspecError, ValueError, TypeError)
"""What reading a row can raise whose bytes are not what was written."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    check: str
    status: Literal["ok", "warning", "error"]
    detail: str
    hint: str = ""


async def examine(home: Path) -> AsyncIterator[Finding]:
    if not (home / DATABASE_NAME).exists() and not (home / "journal.dirty").exists():
        return
    try:
        archive = SqliteArchive(home, SystemClock())
    except _DAMAGE as error:
        yield _damaged("journal", error)
        return
    checks: tuple[tuple[str, Callable[[SqliteArchive], Awaitable[Finding]]], ...] = (
        ("journal", _journal),
        ("database", _database),
        ("rows", _rows),
        ("lists", _lists),
        ("workspaces", _workspaces),
        ("lost orders", _lost),
        ("audit log", _audit),
    )
    try:
        for name, check in checks:
            try:
                yield await check(archive)
            except _DAMAGE as error:
                yield _damaged(name, error)
    finally:
        archive.close()


def _damaged(check: str, error: Exception) -> Finding:
    if isinstance(error, AgentWorkOrdersError):
        return Finding(check=check, status="error", detail=error.message, hint=error.hint)
    return Finding(
        check=check,
        status="error",
        detail=f"it cannot be read ({error})",
        hint="The disk or somebody changed it: restore a backup.",
    )


async def _journal(archive: SqliteArchive) -> Finding:
    damaged = await archive.journal.verify()
    if damaged:
        shown = "; ".join(f"{one.run_id} event {one.seq}: {one.reason}" for one in damaged[:SHOWN])
        return Finding(
            check="journal",
            status="error",
            detail=f"{len(damaged)} damaged: {shown}",
            hint="These orders are left alone; restore a backup to get them back.",
        )
    counts = await archive.records.counts()
    orders = ", ".join(f"{number} {status}" for status, number in sorted(counts.items()))
    return Finding(
        check="journal", status="ok", detail=f"every chain verifies ({orders or 'no orders yet'})"
    )


async def _database(archive: SqliteArchive) -> Finding:
    """The pages and indexes of all tables."""
    said = [str(row[0]) for row in archive.readers.rows("PRAGMA integrity_check(10)")]
    if said == ["ok"]:
        return Finding(check="database", status="ok", detail="every page and index holds")
    return Finding(
        check="database",
        status="error",
        detail=f"{len(said)} damaged: {'; '.join(said[:SHOWN])}",
        hint="The disk or somebody changed it: restore a backup.",
    )


async def _rows(archive: SqliteArchive) -> Finding:
    """Every row of every table against its checksum."""
    found = archive.every_damaged()
    if not found:
        return Finding(check="rows", status="ok", detail="every row holds")
    advice = {_REMEDIES.get(one.table, _RESTORE): None for one in found}
    return Finding(
        check="rows",
        status="error",
        detail=f"{len(found)} damaged: {'; '.join(str(one) for one in found[:SHOWN])}",
        hint=" ".join(advice),
    )


async def _lists(archive: SqliteArchive) -> Finding:
    """What lists show is what the journal gives."""
    compared = differences(archive.journal, archive.records, archive.approvals)
    found = [one async for one in compared]
    if not found:
        return Finding(check="lists", status="ok", detail="they say what the journal says")
    return Finding(
        check="lists",
        status="error",
        detail=f"{len(found)} differ from the journal: {'; '.join(found[:SHOWN])}",
        hint="Stop the server and make them again: awo doctor --rebuild",
    )


async def _audit(archive: SqliteArchive) -> Finding:
    broken = await archive.audit.verify()
    if broken is None:
        return Finding(check="audit log", status="ok", detail="every row verifies")
    return Finding(
        check="audit log",
        status="error",
        detail=f"row {broken.n}: {broken.reason}",
        hint="Somebody or something changed it; compare with a backup.",
    )


async def _workspaces(archive: SqliteArchive) -> Finding:
    """Folders of orders that have ended are removed at their end, or at the next start."""
    folder, known, left = archive.home / "workspaces", await _known(archive), []
    for one in sorted(folder.iterdir()) if folder.is_dir() else ():
        order = await archive.records.get(one.name) if one.name in known else None
        if order is not None and order.status in _ENDED:
            left.append(one.name)
    if not left:
        return Finding(check="workspaces", status="ok", detail="none of an order that has ended")
    return Finding(
        check="workspaces",
        status="warning",
        detail=f"{len(left)} of orders that have ended: {', '.join(left[:SHOWN])}",
        hint=f"The next start removes them; if one stays, remove it from {folder} by hand.",
    )


async def _lost(archive: SqliteArchive) -> Finding:
    """Orders that left traces here and are not in the journal."""
    home, found = archive.home, set[str]()
    for pattern in _TRACES:
        for one in home.glob(pattern):
            if match := ORDER_ID.match(one.name):
                found.add(match[0])
    lost = sorted(found - await _known(archive))
    if not lost:
        return Finding(check="lost orders", status="ok", detail="every trace is of a known order")
    return Finding(
        check="lost orders",
        status="warning",
        detail=f"{len(lost)} are not in the journal: {', '.join(lost[:SHOWN])}",
        hint=f"Their workspaces are kept in {home / LOST}, their transcripts and logs where they "
        "were. Restore a backup that knows them, or remove these when nobody needs them.",
    )


async def _known(archive: SqliteArchive) -> set[str]:
    known, after = set[str](), ""
    while page := await archive.journal.run_ids(after):
        known.update(str(run_id) for run_id in page)
        after = page[-1]
    return known
