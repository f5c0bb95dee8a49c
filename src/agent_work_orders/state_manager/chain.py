"""The hash chain of a run's events, and what a set of stored rows proves. Pure.

Rules:
- `link` covers everything a row says, its place in the run and the chain before it. Lengths stand
  before texts, so no two different rows give the same bytes.
- The run's head (last seq and chain) is stored apart from its events, so a missing tail is found.
- A bad snapshot is not a bad run: it is passed over for an older one, or for a full replay.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from zlib import crc32

from agent_work_orders.state_manager.journal import EventRow, Quarantined, Snapshot

DIGEST_BYTES = 32
START = bytes(DIGEST_BYTES)
"""The chain before a run's first event."""


def link(previous: bytes, row: EventRow) -> bytes:
    """The chain after `row`."""
    kind, run_id = row.kind, row.run_id
    place = f"{len(run_id)}:{run_id}{row.seq}:{row.at_ms}:{len(kind)}:{kind}"
    return blake2b(
        b"%b%b\n%b" % (previous, place.encode(), row.body), digest_size=DIGEST_BYTES
    ).digest()


def seal(*parts: bytes | str | int) -> bytes:
    """A checksum over a few values, each with its length."""
    digest = blake2b(digest_size=DIGEST_BYTES)
    for part in parts:
        piece = part if isinstance(part, bytes) else str(part).encode()
        digest.update(b"%d:" % len(piece))
        digest.update(piece)
    return digest.digest()


def snapshot_seal(snapshot: Snapshot) -> bytes:
    return seal(snapshot.run_id, snapshot.seq, snapshot.body)


def effect_checksum(run: int, effect_id: str, body: bytes) -> int:
    """Against damage, not against people: a row of the outbox is short-lived. Its lease changes and
    is not in it."""
    return crc32(body, crc32(f"{run}:{effect_id}".encode()))


def timer_checksum(run: int, timer: str, at_ms: int) -> int:
    return crc32(f"{run}:{at_ms}:{timer}".encode())


def newest_good(candidates: Iterable[tuple[Snapshot, bytes]], head_seq: int) -> Snapshot | None:
    """The first of `candidates` (newest first) whose checksum holds and that the events reach."""
    for snapshot, checksum in candidates:
        if snapshot.seq <= head_seq and snapshot_seal(snapshot) == checksum:
            return snapshot
    return None


def first_break(
    run_id: str,
    rows: Sequence[tuple[EventRow, bytes]],
    *,
    after: tuple[int, bytes],
    head: tuple[int, bytes],
) -> Quarantined | None:
    """Where the rows that follow `after` (seq, chain) stop being the chain that ends in `head`."""
    seq, chain = after
    for row, stored in rows:
        seq += 1
        if row.seq != seq:
            return Quarantined(run_id=run_id, seq=seq, reason=f"event {seq} is missing")
        chain = link(chain, row)
        if chain != stored:
            return Quarantined(run_id=run_id, seq=seq, reason=f"event {seq} was changed")
    head_seq, head_chain = head
    if seq < head_seq:
        reason = f"the last events are missing: {head_seq} were written, {seq} are there"
        return Quarantined(run_id=run_id, seq=seq + 1, reason=reason)
    if seq > head_seq or chain != head_chain:
        reason = f"the run's head says event {head_seq}, its events end otherwise at {seq}"
        return Quarantined(run_id=run_id, seq=min(seq, head_seq) + 1, reason=reason)
    return None
