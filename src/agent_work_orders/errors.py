"""The one tree of failures.

Rules:
- `Refused` is the caller's fault and changes nothing. `Failed` is the world's fault and has
  a category that decides what happens next. `Broken` is our bug: stop the run, keep the evidence.
- `Held` is no failure and stands beside the tree, so that who handles failures never takes a wait
  for one.
- Every failure has a stable `code` (snake_case, listed in docs/reference/errors.md), a message
  that names the thing, and a `hint` a person can act on. The code is always the first argument
  and always a literal, so that a test can collect them all from the source.
- `Unknown` means "it may have happened": look at the world before repeating.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

Category = Literal["transient", "permanent", "environmental", "unknown"]
HeldReason = Literal[
    "circuit_open",
    "disk_full",
    "github_quota",
    "github_unavailable",
    "model_quota",
    "model_unavailable",
]
"""What work can be held by; these are among the reasons of `workflow_engine/waiting.py`."""


class AgentWorkOrdersError(Exception):
    """Everything this product raises on purpose."""

    def __init__(self, code: str, message: str, *, hint: str = "", **context: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.context = context

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"


class Refused(AgentWorkOrdersError):
    """The request cannot be done as asked. Nothing was changed. `field` names the culprit."""

    status: ClassVar[int] = 422

    @property
    def field(self) -> str | None:
        value = self.context.get("field")
        return None if value is None else str(value)


class BadRequest(Refused):
    """The request itself is malformed."""

    status = 400


class Unauthenticated(Refused):
    """No key, or a key we do not know."""

    status = 401


class Forbidden(Refused):
    """A known caller who may not do this."""

    status = 403


class NotFound(Refused):
    """No such thing, or none that this caller may see."""

    status = 404


class Conflict(Refused):
    """The thing exists, but its state does not allow this."""

    status = 409


class TooLarge(Refused):
    """More bytes, tasks or items than the limit."""

    status = 413


class TooMany(Refused):
    """A rate limit. `retry_after_s` in the context says when to come back."""

    status = 429


class Unavailable(Refused):
    """We cannot take work now (draining, disk full, journal halted). Try again later."""

    status = 503


class Failed(AgentWorkOrdersError):
    """Something outside the caller's request went wrong."""

    category: ClassVar[Category] = "unknown"


class Transient(Failed):
    """Likely to pass: a retry is worth it. `retry_after_s` in the context overrides the backoff."""

    category = "transient"


class Permanent(Failed):
    """The same call will fail again."""

    category = "permanent"


class Environmental(Failed):
    """The machine or its surroundings lack something: disk, memory, a binary, a permission."""

    category = "environmental"


class Unknown(Failed):
    """The effect may or may not have happened: read the world before repeating it."""

    category = "unknown"


class Unanswered(Unknown):
    """A single write was sent, and no answer came that can be trusted. Who looks at the world
    first may try again."""

    def for_who_looks_first(self) -> Transient:
        return Transient(self.code, self.message, hint=self.hint, **self.context)


class Broken(AgentWorkOrdersError):
    """A bug of ours, or data that cannot be: never retried, always shown."""


class Held(Exception):
    """It cannot go on before a known time (a quota, an outage, a full disk). For a task this is no
    try: what waits this way must bound itself and wait longer each time (`ToolContext.stall`)."""

    def __init__(self, reason: HeldReason, until_ms: int, message: str = "") -> None:
        super().__init__(message or f"held until {until_ms} ({reason})")
        self.reason = reason
        self.until_ms = until_ms
