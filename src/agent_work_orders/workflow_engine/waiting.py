"""What an order may wait for: the words that lists, pages and clients are told. Pure.

The list is closed: `docs/reference/status.md` and the dashboard's type are made from it, and the
dashboard cannot be built without words for each. Beside these an order may wait because of a
failure's code (`failure: <code>`, `retry: <code>`).
"""

from __future__ import annotations

from typing import Final, Literal, NewType, cast, get_args

from agent_work_orders.errors import HeldReason

WaitingReason = Literal[
    "approval", "paused", "access_lost", "rate_limit", "quarantined", HeldReason
]  # fmt: skip

CodeReason = NewType("CodeReason", str)
"""`failure: <code>` or `retry: <code>`."""

Reason = WaitingReason | CodeReason

ACCESS_LOST: Final[WaitingReason] = "access_lost"
CIRCUIT_OPEN: Final[HeldReason] = "circuit_open"
DISK_FULL: Final[HeldReason] = "disk_full"
MODEL_QUOTA: Final[HeldReason] = "model_quota"
MODEL_UNAVAILABLE: Final[HeldReason] = "model_unavailable"
QUARANTINED: Final[WaitingReason] = "quarantined"
RATE_LIMIT: Final[WaitingReason] = "rate_limit"

MEANINGS: dict[WaitingReason, str] = {
    "approval": "a person has to decide about exactly what is shown",
    "paused": "a person paused it",
    "access_lost": "GitHub no longer lets us reach the repository; its orders are paused meanwhile",
    "rate_limit": "a limit on how many orders may begin holds it in the queue",
    "quarantined": "its journal is damaged; the order is put aside and the others go on",
    "circuit_open": "the agent's model has failed several tasks in a row",
    "disk_full": "the workspaces' disk has no room",
    "github_quota": "a limit of GitHub allows no request before then",
    "github_unavailable": "GitHub does not answer",
    "model_quota": "the quota of the agent's model is used up",
    "model_unavailable": "the agent's model does not answer (5xx, overload, network)",
}


def reasons() -> tuple[WaitingReason, ...]:
    return get_args(WaitingReason)


def because_of_failure(code: str) -> CodeReason:
    """A task failed with this code and a person has to decide."""
    return CodeReason(f"failure: {code}")


def before_retry(code: str) -> CodeReason:
    """A task failed with this code and is tried again at a known time."""
    return CodeReason(f"retry: {code}")


def recorded(reason: str) -> WaitingReason:
    """A reason out of the journal, which other versions may have written: shown as it stands."""
    return cast("WaitingReason", reason)
