"""What came of a group of writes: which errors end the writing, in which words a caller is refused,
and how each waiter is told on its own loop."""

from __future__ import annotations

import asyncio
import concurrent.futures
import sqlite3
from typing import Any

from agent_work_orders.errors import AgentWorkOrdersError, Broken, Environmental, Unavailable

Waiter = asyncio.Future[Any] | concurrent.futures.Future[Any] | None
Outcome = tuple[Waiter, Any, Exception | None]

_FATAL = {
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_FULL,
}


def closed() -> Unavailable:
    return Unavailable("journal_closed", "the server is shutting down", hint="Try again soon.")


def is_fatal(error: Exception) -> bool:
    code = getattr(error, "sqlite_errorcode", 0) or 0
    return isinstance(error, sqlite3.Error) and (code & 0xFF) in _FATAL


def refusal(code: str, cause: str) -> AgentWorkOrdersError:
    if code == "journal_full":
        return Environmental(
            "journal_full",
            f"the disk of the data directory is full ({cause})",
            hint="Free space: work goes on by itself afterwards. Nothing acknowledged was lost.",
        )
    return Broken(
        "journal_halted",
        f"the disk of the data directory failed ({cause}); what was last written is unknown",
        hint="Check the disk and the kernel log, then restart the server.",
    )


def tell(outcomes: list[Outcome]) -> None:
    by_loop: dict[asyncio.AbstractEventLoop, list[Outcome]] = {}
    for outcome in outcomes:
        waiter = outcome[0]
        if isinstance(waiter, asyncio.Future):
            by_loop.setdefault(waiter.get_loop(), []).append(outcome)
        elif waiter is not None:
            _settle([outcome])
    for loop, share in by_loop.items():
        try:
            loop.call_soon_threadsafe(_settle, share)
        except RuntimeError:
            continue  # the loop was closed: nobody waits any more


def _settle(outcomes: list[Outcome]) -> None:
    for waiter, value, error in outcomes:
        if waiter is None or waiter.done():
            continue
        if error is None:
            waiter.set_result(value)
        else:
            waiter.set_exception(error)
