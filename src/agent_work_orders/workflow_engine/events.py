"""Everything that can have happened to a run. Time (`at_ms`) and ids arrive inside.

Events are the journal's rows: a kind may gain fields with defaults, but is never renamed.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from agent_work_orders.errors import Category

JsonObject = dict[str, Any]


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """A failure as data. `category` decides the retry, `hint` is for a person."""

    category: Category
    code: str
    message: str
    hint: str = ""
    context: JsonObject = {}
    retry_after_s: float | None = None


# Far above what anybody spends, and sums of it stay numbers that every JSON parser reads.
MAX_COST_USD = 1e9
MAX_COUNT = 10**15


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent consumed, as it says: what cannot be is brought within bounds, wherever it
    comes from. Recorded also when it failed or was cancelled.

    A later count may correct an earlier one, so that in a single event numbers can be negative;
    sums are not.
    """

    cost_usd: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    turns: int = 0
    estimated_usd: float = 0.0
    """The part of the cost that nobody told us: tokens at list prices."""
    unpriced_turns: int = 0
    """Turns (or lost attempts) whose price is not known. With any, the cost is only a lower
    bound."""
    model: str = ""
    """The last one that was asked."""

    def plus(self, other: Usage) -> Usage:
        return Usage(
            cost_usd=self.cost_usd + other.cost_usd,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            turns=self.turns + other.turns,
            estimated_usd=max(0.0, self.estimated_usd + other.estimated_usd),
            unpriced_turns=self.unpriced_turns + other.unpriced_turns,
            model=other.model or self.model,
        )

    def __post_init__(self) -> None:
        for name, most in _BOUNDS:
            said = getattr(self, name)
            # The comparison is false for NaN too.
            if not -most <= said <= most:
                bound = most if said > 0 else -most if said < 0 else type(most)(0)
                msgspec.structs.force_setattr(self, name, bound)


_BOUNDS: tuple[tuple[str, float], ...] = (
    ("cost_usd", MAX_COST_USD),
    ("estimated_usd", MAX_COST_USD),
    ("input_tokens", MAX_COUNT),
    ("output_tokens", MAX_COUNT),
    ("turns", MAX_COUNT),
    ("unpriced_turns", MAX_COUNT),
)


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind"):
    at_ms: int


class Parent(msgspec.Struct, frozen=True, kw_only=True):
    run_id: str
    path: str


class Submitted(Event, frozen=True, kw_only=True, tag="submitted"):
    """The first event of every run. `order` is what templates see as `order`."""

    plan_hash: str
    inputs: JsonObject
    order: JsonObject
    by: str = ""
    parent: Parent | None = None


class TaskStarted(Event, frozen=True, kw_only=True, tag="task_started"):
    """The task left the queue. Advisory: its loss changes nothing but what people see."""

    path: str
    attempt: int


class TaskSucceeded(Event, frozen=True, kw_only=True, tag="task_succeeded"):
    path: str
    attempt: int
    outputs: JsonObject
    usage: Usage | None = None
    prompts: tuple[str, ...] = ()
    """Ids of the prompts that this attempt delivered."""
    denials: tuple[str, ...] = ()
    """What the agent asked for and was not allowed to do, in its own words."""
    recovered: tuple[int, ...] = ()
    """Lost attempts whose spending is part of `usage`."""


class TaskFailed(Event, frozen=True, kw_only=True, tag="task_failed"):
    path: str
    attempt: int
    failure: Failure
    outputs: JsonObject | None = None
    """Evidence of a failed attempt (kept, never used as success)."""
    usage: Usage | None = None
    prompts: tuple[str, ...] = ()
    denials: tuple[str, ...] = ()
    recovered: tuple[int, ...] = ()


class TaskParked(Event, frozen=True, kw_only=True, tag="task_parked"):
    """The attempt cannot go on until a known time (a quota, an outage). Not a failure: not a
    try."""

    path: str
    attempt: int
    reason: str
    """Of `waiting.WaitingReason`; text, since journals outlive the list."""
    until_ms: int
    usage: Usage | None = None
    prompts: tuple[str, ...] = ()
    denials: tuple[str, ...] = ()
    recovered: tuple[int, ...] = ()


class TaskLost(Event, frozen=True, kw_only=True, tag="task_lost"):
    """Whoever performed the attempt is gone (a crash) and left no result."""

    path: str
    attempt: int


class TimerFired(Event, frozen=True, kw_only=True, tag="timer_fired"):
    timer: str


class ApprovalDecided(Event, frozen=True, kw_only=True, tag="approval_decided"):
    """A person's decision, bound by `subject_hash` to exactly what was shown."""

    path: str
    approved: bool
    by: str
    subject_hash: str
    comment: str = ""


class ApprovalShown(Event, frozen=True, kw_only=True, tag="approval_shown"):
    """How the world stands that a question is about: the commit whose changes are shown.

    The first one completes the question. A later one that differs voids it, and it is asked anew.
    """

    path: str
    generation: int
    facts: JsonObject


class PromptReceived(Event, frozen=True, kw_only=True, tag="prompt_received"):
    prompt_id: str
    text: str
    by: str = ""


class PauseAsked(Event, frozen=True, kw_only=True, tag="pause_asked"):
    by: str = ""
    reason: str = ""
    """A word for what made it necessary, when no person wanted it: `access_lost`."""


class ResumeAsked(Event, frozen=True, kw_only=True, tag="resume_asked"):
    by: str = ""


class CancelAsked(Event, frozen=True, kw_only=True, tag="cancel_asked"):
    by: str = ""


class RetryAsked(Event, frozen=True, kw_only=True, tag="retry_asked"):
    """Again: every failed task, or `path` and all that depends on it."""

    by: str = ""
    path: str | None = None
    prompt_id: str = ""
    text: str = ""
    """What the next agent is told with its task, when there is a `prompt_id`."""
    agent_timeout_s: float | None = None
    """For the order's agents from now on."""


class RollbackAsked(Event, frozen=True, kw_only=True, tag="rollback_asked"):
    by: str = ""


class TaskOverridden(Event, frozen=True, kw_only=True, tag="task_overridden"):
    """A person decides a stuck or failed task: skip it, call it done with a value, or try again."""

    path: str
    action: Literal["skip", "succeed", "retry"]
    by: str
    outputs: JsonObject = {}


class Undone(Event, frozen=True, kw_only=True, tag="undone"):
    path: str
    failure: Failure | None = None
    attempt: int = 0
    """Of the `Undo` that this answers; 0 where it is not known, for the one that is asked for."""


class ChildFinished(Event, frozen=True, kw_only=True, tag="child_finished"):
    """A child run ended. `child_run_id` tells a late one of an earlier generation apart."""

    path: str
    child_run_id: str
    outcome: Literal["completed", "failed", "cancelled", "rolled_back"]
    outputs: JsonObject = {}
    failure: Failure | None = None
    usage: Usage | None = None


AnyEvent = (
    Submitted
    | TaskStarted
    | TaskSucceeded
    | TaskFailed
    | TaskParked
    | TaskLost
    | TimerFired
    | ApprovalShown
    | ApprovalDecided
    | PromptReceived
    | PauseAsked
    | ResumeAsked
    | CancelAsked
    | RetryAsked
    | RollbackAsked
    | TaskOverridden
    | Undone
    | ChildFinished
)

_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(AnyEvent)


def encode(event: AnyEvent) -> bytes:
    return _ENCODER.encode(event)


def decode(data: bytes) -> AnyEvent:
    decoded: AnyEvent = _DECODER.decode(data)
    return decoded


def kind_of(event: AnyEvent) -> str:
    return str(event.__struct_config__.tag)
