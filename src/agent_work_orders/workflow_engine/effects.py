"""Everything the machine may ask of the world. An engine performs them after the commit.

`Perform`, `Undo`, `StartChild`, `CancelChild`, `RollbackChild` and `Finish` are durable: they are
written with the events that caused them and done at least once. `CancelRunning` and
`DeliverPrompt` speak to a living process and mean nothing after a crash. `SetTimer` and
`ClearTimer` are rows of their own.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from agent_work_orders.workflow_engine.events import Failure, Parent, Usage


class Effect(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind"):
    pass


class Perform(Effect, frozen=True, kw_only=True, tag="perform"):
    """Run a tool. `key` is what the task *is* (run, path, generation), never the attempt."""

    path: str
    attempt: int
    key: str
    uses: str
    input: dict[str, Any]
    timeout_s: float
    phase: str | None = None
    approved: dict[str, Any] | None = None
    """What stood before the person who approved it; None for a task that nobody was asked about."""


class Undo(Effect, frozen=True, kw_only=True, tag="undo"):
    """Compensate a task that succeeded; answered by `Undone` with the same attempt."""

    path: str
    key: str
    uses: str
    input: dict[str, Any]
    timeout_s: float
    attempt: int = 1


class StartChild(Effect, frozen=True, kw_only=True, tag="start_child"):
    """Start a run of its own (a retry gets a new one); answered by `ChildFinished`."""

    path: str
    run_id: str
    workflow: str
    inputs: dict[str, Any]


class CancelChild(Effect, frozen=True, kw_only=True, tag="cancel_child"):
    path: str
    run_id: str


class RollbackChild(Effect, frozen=True, kw_only=True, tag="rollback_child"):
    path: str
    run_id: str


class CancelRunning(Effect, frozen=True, kw_only=True, tag="cancel_running"):
    path: str
    attempt: int


class DeliverPrompt(Effect, frozen=True, kw_only=True, tag="deliver_prompt"):
    path: str
    prompt_id: str


class SetTimer(Effect, frozen=True, kw_only=True, tag="set_timer"):
    timer: str
    at_ms: int


class ClearTimer(Effect, frozen=True, kw_only=True, tag="clear_timer"):
    timer: str


class AskApproval(Effect, frozen=True, kw_only=True, tag="ask_approval"):
    """Tell people. `subject` is what they are shown and `subject_hash` binds the decision to it."""

    path: str
    message: str
    subject: dict[str, Any]
    subject_hash: str
    expires_ms: int


class Finish(Effect, frozen=True, kw_only=True, tag="finish"):
    """The run ended (for now: a retry may open it again). Told to the parent, and to people."""

    outcome: Literal["completed", "failed", "cancelled", "rolled_back"]
    outputs: dict[str, Any] = {}
    failure: Failure | None = None
    usage: Usage | None = None
    parent: Parent | None = None


AnyEffect = (
    Perform
    | Undo
    | StartChild
    | CancelChild
    | RollbackChild
    | CancelRunning
    | DeliverPrompt
    | SetTimer
    | ClearTimer
    | AskApproval
    | Finish
)

_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(AnyEffect)


def encode(effect: AnyEffect) -> bytes:
    return _ENCODER.encode(effect)


def decode(data: bytes) -> AnyEffect:
    decoded: AnyEffect = _DECODER.decode(data)
    return decoded
