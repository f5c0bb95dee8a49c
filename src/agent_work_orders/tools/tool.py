"""The contract between a tool and the engine that performs it.

A tool raises `errors.Failed` subclasses for what went wrong, `errors.Held` when it cannot go on
before a known time, and returns outputs (a JSON object) for what went right; `engines/perform.py`
alone turns these into events. Whatever a tool writes to the world goes through `ctx.once`.
Cancellation is `asyncio.CancelledError`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol

import msgspec

from agent_work_orders.state_manager.ledger import Entry
from agent_work_orders.workflow_engine.catalogue import ToolInfo
from agent_work_orders.workflow_engine.events import Usage

JsonObject = dict[str, Any]

# What an agent's tree, its pack, its import and a copy may take together, each within limits of its
# own (sandbox_manager/git_steps.py, repositories/mirror.py).
COMMIT_S = 45 * 60.0


class Stall(msgspec.Struct, frozen=True, kw_only=True):
    """How often in a row a task was parked without getting anywhere, and since when."""

    count: int = 0
    since_ms: int | None = None


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool may know about the order it works for."""

    order_id: str
    repository_url: str
    repository: str
    """Key of the repository's mirror."""
    base_branch: str | None
    """The branch to start from as asked for; None is the repository's default."""
    branch: str
    sandbox_type: str
    agent: JsonObject
    """Name and options of the agent: `{"name": "command", "argv": [...]}`."""
    agent_timeout_s: float | None = None
    """For this order's agent tasks, instead of the workflow's limit."""
    workflow: str
    workflow_kind: str = "custom"
    delivers: bool = False
    """Whether its workflow pushes: then that is possible before an agent is paid."""
    prompt: str = ""
    github_issue_number: str | None = None
    title: str = ""
    github: JsonObject | None = None
    """What it is about on the hub, as far as it came from there: `repository_id`, `full_name`,
    `issue`, `pull_request` (numbers), `head_sha`, `comment_id`, `sender`."""


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    prompt_id: str
    text: str
    opening: bool = False
    """Belongs to the first turn of its agent."""


class ToolContext(Protocol):
    order: Order
    run_id: str
    path: str
    attempt: int
    key: str
    """What this task is: stable over attempts and restarts."""
    phase: str | None
    timeout_s: float
    """How long the task may take; a tool that runs programs gives them this limit."""
    spent_usd: float
    """What the order had cost when the task began."""
    approved_head: str | None
    """The order's head that stood before the person who approved this task, empty for an order
    without a commit; None when nobody was asked, or before heads were shown."""
    stall: Stall
    lost: tuple[int, ...]
    """Earlier attempts of this task that were lost with their server, and whose spending nobody
    has counted: an agent's tool finds out and calls `recover`."""

    def now_ms(self) -> int: ...

    async def once(
        self,
        key: str,
        *,
        what: str,
        intent: JsonObject,
        look: Callable[[], Awaitable[JsonObject | None]],
        do: Callable[[], Awaitable[JsonObject]],
    ) -> JsonObject:
        """Write to the world exactly once. With a receipt: return it. With an intent but no
        receipt (a crash): `look` first and adopt what is found. Else record the intent, `do`,
        record the receipt."""
        ...

    async def written(self, what: str) -> list[Entry]:
        """All writes of this kind that the order has begun, oldest first: with `once`'s `what`."""
        ...

    def log(self, event: str, *, level: str = "info", **fields: Any) -> None:
        """A line in the order's log, redacted. `event` is one of the documented names."""
        ...

    def spend(self, usage: Usage) -> None:
        """Add to what this attempt has used; kept also when it fails or is cancelled."""
        ...

    def recover(self, attempt: int, usage: Usage) -> None:
        """What a lost attempt had used. Once per attempt; it counts with this one's answer."""
        ...

    def denied(self, denials: Sequence[str]) -> None:
        """What the agent was not allowed to do. Hostile text: kept as data, for people."""
        ...

    def prompts(self) -> list[Prompt]:
        """Prompts of people that wait for this task and were not delivered yet, oldest first."""
        ...

    def delivered(self, prompt_id: str) -> None:
        """Call after the turn that got the prompt has ended."""
        ...

    def allow(self, seconds: float) -> None:
        """From now on it may take so long, whatever it took until now: for a step that begins when
        the work is done and has limits of its own."""
        ...

    async def artifact(self, name: str, content: bytes, media_type: str = "text/plain") -> str:
        """Keep evidence with the order; returns its sha256."""
        ...

    def keep(self, evidence: JsonObject) -> None:
        """Outputs to record even if this attempt fails."""
        ...

    def previous_outputs(self) -> JsonObject | None:
        """Evidence of this task's last failed attempt, if any."""
        ...


class Tool(Protocol):
    info: ToolInfo

    async def __call__(self, ctx: ToolContext, *args: Any, **inputs: Any) -> JsonObject: ...
