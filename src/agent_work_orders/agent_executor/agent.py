"""The contract of an agent: a prompt in, files changed in the workspace, one `Turn` out.

A turn is one run of the agent's program inside a sandbox. What the agent said is data: never a
template, a command or markup. A turn that ends badly is a value with an `error`; only being
unable to start is an exception (`errors.Environmental`, code `agent_missing`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol

import msgspec

from agent_work_orders.sandbox_manager.sandbox import Sandbox
from agent_work_orders.workflow_engine.events import Usage

ErrorKind = Literal[
    "auth",
    "rate_limit",
    "overloaded",
    "server",
    "network",
    "invalid_request",
    "max_turns",
    "budget",
    "interrupted",
    "timeout",
    "idle",
    "no_output",
    "protocol",
    "crashed",
    "exit_code",
]

# A turn's text becomes a task's output and a row of the journal; the transcript has all of it.
TEXT_LIMIT_CHARS = 64_000


class AgentRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One turn. `session_id` resumes; `command` and `command_call` key a script."""

    prompt: str
    command: str | None = None
    command_call: int = 1
    """How many turns of this `command` the order has had, this one included."""
    session_id: str | None = None
    go_on: str = ""
    """What a resumed session is told instead of the prompt, which it has heard already."""
    history: str = ""
    """Where the record of earlier turns is (see resume.py), for a new session."""
    history_file: str | None = None
    """The file that `history` names, which the agent must be able to read."""
    model: str | None = None
    max_turns: int | None = None
    timeout_s: float = 300.0
    idle_s: float | None = None
    instructions: str = ""
    """Repository instructions from the trusted base branch, given apart from the prompt."""


class AgentError(msgspec.Struct, frozen=True, kw_only=True):
    kind: ErrorKind
    message: str
    retry_at_ms: int | None = None
    exit_code: int | None = None
    signal: int | None = None


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the transcript, for people: what was said, thought or done."""

    kind: Literal["text", "thinking", "tool_use", "tool_result", "system", "error", "prompt"]
    text: str
    data: dict[str, Any] = {}


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """`ok` only by the agent's own rule for success, never by exit code 0 alone when the agent
    has a protocol. `usage` is this turn's own (cumulative costs are subtracted)."""

    ok: bool
    text: str = ""
    session_id: str | None = None
    usage: Usage = Usage()
    error: AgentError | None = None
    denials: tuple[str, ...] = ()
    saw_end: bool = False
    scripted: bool = False
    cumulative_cost_usd: float | None = None
    """What the agent itself says the session has cost so far, to subtract at the next resume."""


METER = "meter"


def is_bookkeeping(entry: Entry) -> bool:
    """A line that only the next attempt needs: whether the work is done, or over."""
    said = entry.data.get(METER) if entry.kind == "system" else None
    return isinstance(said, dict) and ("over" in said or "ended" in said)


def meter_entry(usage: Usage, session_id: str | None, total_cost_usd: float | None) -> Entry:
    """A line that counts: what a turn has used until now. An agent that can tells it as often as
    it changes, because the answer that would tell it at the end may never come."""
    said = {
        "usage": msgspec.to_builtins(usage),
        "session_id": session_id,
        "total_cost_usd": total_cost_usd,
    }
    return Entry(kind="system", text="used so far", data={METER: said})


Transcript = Callable[[Entry], None]


class Agent(Protocol):
    name: str
    scripted: bool

    def check(self) -> str | None:
        """None when it can run here, else one line that says what to install or set."""
        ...

    async def run(
        self,
        request: AgentRequest,
        sandbox: Sandbox,
        *,
        transcript: Transcript,
        env: Mapping[str, str] | None = None,
        previous_cost_usd: float | None = None,
    ) -> Turn:
        """One turn. Cancelling the awaiting task ends the agent and everything it started."""
        ...
