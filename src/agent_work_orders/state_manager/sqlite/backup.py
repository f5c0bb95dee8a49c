"""A consistent copy of the database while it is being written."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from agent_work_orders.errors import Conflict, Environmental
from agent_work_orders.state_manager.sqlite.database import UNREADABLE, failure_of, look


def backup(source: Path, target: Path) -> int:
    """Copy everything committed at one moment; returns the bytes. Blocking; commits go on.

    The copy appears whole or not at all and opens like any other database. Artifacts are files of
    their own: copy `<home>/artifacts` after this. Raises Conflict `backup_exists`, Environmental.
    """
    if target.exists():
        raise Conflict(
            "backup_exists", f"{target} exists", hint="Choose another name; nothing is overwritten."
        )
    beside = target.with_name(target.name + ".partial")
    try:
        beside.unlink(missing_ok=True)
        _copy(source, beside)
        _sync(beside)
        os.link(beside, target)
        _sync(target.parent)
    except UNREADABLE as error:
        raise failure_of(error, source) from error
    except OSError as error:
        raise Environmental(
            "backup_failed",
            f"cannot write {target} ({error.strerror})",
            hint="Check the directory, its permissions and its free space.",
        ) from error
    finally:
        beside.unlink(missing_ok=True)
    return target.stat().st_size


def _copy(source: Path, target: Path) -> None:
    reader = look(source)  # the server may end meanwhile: its WAL must stay
    copy = sqlite3.connect(target, isolation_level=None)
    try:
        # All pages in one step: it holds one view, where smaller steps start anew at each commit.
        reader.backup(copy, pages=-1)
        copy.execute("PRAGMA journal_mode = DELETE")
        copy.execute("PRAGMA quick_check")
    finally:
        copy.close()
        reader.close()


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
