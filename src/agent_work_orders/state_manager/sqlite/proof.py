"""A checksum in every row, so that damage is noticed where the row is read.

Rules:
- It covers the table's name and all other columns, in the order of the schema, with their types.
  Against damage, not against people: those who can write the file can also write a checksum.
- Whoever writes a row computes it here. A trigger would bless what somebody changed by hand, and
  would call back into Python once for each row, which costs a hand-over of the interpreter lock.
- A row is changed only after it was proved, or what is wrong in it would be right from then on.
- A migration that adds a column to one of `TABLES` fills their checksums anew (damage.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar
from zlib import crc32

import msgspec

from agent_work_orders.errors import Broken

Made = TypeVar("Made")

DAMAGE = (ValueError, TypeError, KeyError, AttributeError)
"""What comes of a row whose bytes are not what was written; msgspec's errors are ValueErrors."""

TABLES = (
    "api_keys", "approvals", "artifacts", "audit", "branches", "credentials", "deliveries", "feed",
    "idempotency_keys", "ledger", "log_entries", "meta", "order_subjects", "orders", "quota",
    "runs", "sessions", "workflow_versions",
)  # fmt: skip
OTHERWISE = {
    "events": "each has the hash of all before it, and the run's head the last one",
    "snapshots": "each has a hash; one that does not hold is passed over",
    "plans": "each has a hash, and an order whose plan is not there is set aside",
    "effects": "each has a checksum, and a run knows how many it has; a lease is a number or none",
    "timers": "each has a checksum, and a run knows how many it has",
    "schema_version": "it must be exactly the steps that this program knows",
}
"""Tables whose rows are proved by something else."""

_SEEDS = {table: crc32(table.encode()) for table in TABLES}
_encode = msgspec.msgpack.Encoder().encode
"""Tells types apart, puts lengths before texts, and has one form for each value."""


def checksum(table: str, values: Sequence[Any]) -> int:
    """Of all columns but the checksum itself. True and 1 differ here and not in SQLite."""
    return crc32(_encode(values), _SEEDS[table])


def sealed(table: str, values: Sequence[Any]) -> tuple[Any, ...]:
    """The row to write: the values and their checksum. Written out: it is called for each row."""
    return (*values, crc32(_encode(values), _SEEDS[table]))


def proven(table: str, row: Sequence[Any]) -> Sequence[Any]:
    """The values of a row that ends in its checksum. ValueError when it is not theirs."""
    values = row[:-1]
    if checksum(table, values) != row[-1]:
        raise ValueError("it was changed")
    return values


def readable(
    make: Callable[[Sequence[Any]], Made], rows: Iterable[Sequence[Any]], table: str
) -> list[Made]:
    """Those rows that hold: one that is damaged keeps nobody from the others, and `awo doctor`
    names it."""
    made = []
    for row in rows:
        try:
            made.append(make(proven(table, row)))
        except DAMAGE:
            continue
    return made


def onward(rows: Iterable[Sequence[Any]], after: Any, column: int = 0) -> list[Sequence[Any]]:
    """Rows of a page, in order and past its cursor: by a damaged index or row a page may come back
    to where it was, and who reads to the end would never get there."""
    kind = type(after)
    further = [row for row in rows if isinstance(row[column], kind) and row[column] > after]
    return sorted(further, key=lambda row: row[column])


def one_row(make: Callable[[Sequence[Any]], Made], row: Sequence[Any], table: str) -> Made:
    """Broken `row_damaged` instead of whatever its bytes would cause."""
    try:
        return make(proven(table, row))
    except DAMAGE as error:
        raise Broken(
            "row_damaged",
            f"a row of {table} cannot be read ({error})",
            hint="The disk or somebody changed it. `awo doctor` names what is damaged; restore a "
            "backup.",
        ) from error
