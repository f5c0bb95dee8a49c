"""What travels between the engine, the workflow and the activities: JSON, as bytes.

Plans, runs, events and effects travel in the encoding that the journal of the embedded engine
uses, so that an order can be read without knowing which engine ran it. These are part of recorded
histories: a field may be added with a default, never renamed or removed.
"""

from __future__ import annotations

import zlib
from typing import TypeVar

import msgspec

WORKFLOW = "work_order"
TASK_QUEUE = "agent-work-orders"

PERFORM = "perform_task"
UNDO = "undo_task"
START = "start_run"
TELL = "tell_run"

POST = "post"
HEAR = "hear"
STATE = "state"
TAIL = "tail"
PROMPTS = "prompts"

NO_CHANGE = "no_change"
"""Type of the refusal of an event that changes nothing; its message is the run's stage."""
LOST = "worker_stopped"
"""Type of the failure of an activity whose worker went away without an answer."""
TAKEN = "taken"
"""What `TELL` answers for an event that was taken in; otherwise the run's stage, or UNKNOWN."""
UNKNOWN = "unknown"

# FAULTS A28: a dead worker is noticed within 30 s.
HEARTBEAT_S = 20.0

# The cluster warns at 256 kB and refuses at 2 MB; runs are repetitive JSON and shrink well.
COMPRESS_BYTES = 32 * 1024

# msgspec has no optional raw value.
NONE = msgspec.Raw(b"null")

_T = TypeVar("_T")


class Start(msgspec.Struct, frozen=True, kw_only=True):
    """Begins an execution: of a new run (`run` is NONE and `event` its `Submitted`), of an ended
    one that is opened again by `event`, or of one that goes on in a fresh history."""

    run_id: str
    plan: msgspec.Raw
    event: msgspec.Raw = NONE
    run: msgspec.Raw = NONE
    seq: int = 0
    timers: dict[str, int] = {}
    due: tuple[msgspec.Raw, ...] = ()
    before: str = ""
    """The execution that has the events up to `seq`."""
    heartbeat_s: float = HEARTBEAT_S
    renew_after: int = 0
    """History length at which to go on in a fresh one; 0 leaves it to the server."""


class State(msgspec.Struct, frozen=True, kw_only=True):
    """A whole run: what `STATE` answers, and what an execution leaves behind at its end."""

    run_id: str
    plan: msgspec.Raw
    run: msgspec.Raw
    seq: int
    timers: dict[str, int] = {}


class Tail(msgspec.Struct, frozen=True, kw_only=True):
    """The events of one execution after a cursor."""

    base: int
    """Events up to this one are with `before`."""
    before: str
    events: tuple[msgspec.Raw, ...]
    over: bool
    """The run ended and nothing of it is under way."""


def pack(value: msgspec.Struct) -> bytes:
    body = msgspec.json.encode(value)
    return body if len(body) < COMPRESS_BYTES else zlib.compress(body, 1)


def unpack(body: bytes, kind: type[_T]) -> _T:
    plain = body if body.startswith(b"{") else zlib.decompress(body)
    return msgspec.json.decode(plain, type=kind)
