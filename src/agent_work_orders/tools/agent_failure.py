"""What an agent's bad turn means for the task: wait, try again, or fail. Pure."""

from __future__ import annotations

from typing import assert_never

import msgspec

from agent_work_orders.agent_executor.agent import AgentError
from agent_work_orders.errors import Environmental, Failed, Held, Permanent, Transient
from agent_work_orders.tools.tool import Stall
from agent_work_orders.workflow_engine.waiting import MODEL_QUOTA, MODEL_UNAVAILABLE

# What an agent says of the future is its word only: never longer than a week, a quota's longest.
LONGEST_NAMED_MS = 7 * 24 * 3_600_000


class Waits(msgspec.Struct, frozen=True, kw_only=True):
    """How a model that does not answer is waited for. Each wait in a row is twice the last, also
    when somebody named a time: a time that was wrong once is no reason to hurry."""

    floor_ms: int = 30_000
    """Most outages are over within a minute, and every try of an agent starts a process."""
    longest_ms: int = 15 * 60_000
    """What a person would not notice as a further delay, after hours."""
    give_up_ms: int = 24 * 3_600_000
    """A model that did not answer for a day: somebody has to look."""

    @classmethod
    def of(cls, floor_s: float, longest_s: float) -> Waits:
        return cls(floor_ms=int(floor_s * 1000), longest_ms=int(longest_s * 1000))

    def until_ms(self, now_ms: int, stalls: int, named_ms: int | None = None) -> int:
        """When to try again. A named time counts if it is later than our own."""
        wait_ms = min(self.floor_ms << min(stalls, 20), self.longest_ms)
        named_wait_ms = min((named_ms or 0) - now_ms, LONGEST_NAMED_MS)
        return now_ms + max(wait_ms, named_wait_ms)


WAITS = Waits()


def meaning(
    error: AgentError, now_ms: int, *, waits: Waits = WAITS, stall: Stall | None = None
) -> Failed | Held:
    """What to raise. `stall`: what was waited for already, without success."""
    message = error.message or error.kind
    stall = stall or Stall()
    match error.kind:
        case "auth":
            return Permanent(
                "agent_auth",
                f"The agent may not use its model: {message}",
                hint="Check the model's API key in the server's settings.",
            )
        case "server" | "network" | "overloaded":
            if stall.since_ms is not None and now_ms - stall.since_ms >= waits.give_up_ms:
                hours = (now_ms - stall.since_ms) / 3_600_000
                return Environmental(
                    "agent_model_unreachable",
                    f"The agent's model did not answer for {hours:.0f} hours: {message}",
                    hint="Check the network and the model's status, then retry: work is kept.",
                )
            named_ms = error.retry_at_ms
            return Held(MODEL_UNAVAILABLE, waits.until_ms(now_ms, stall.count, named_ms))
        case "invalid_request":
            return Permanent(
                "agent_request_invalid",
                f"The model refused the agent's request: {message}",
                hint="Check the model's name and the agent's options.",
            )
        case "rate_limit":
            return Held(MODEL_QUOTA, waits.until_ms(now_ms, stall.count, error.retry_at_ms))
        case "max_turns" | "budget":
            return Permanent(
                "agent_limit_reached",
                f"The agent reached its limit: {message}",
                hint="Give it more turns or budget, or a smaller task, and retry.",
            )
        case "timeout":
            return Permanent(
                "agent_timeout",
                f"The agent did not end in time: {message}",
                hint="Retry it with a longer --timeout, or find out what it waits for.",
            )
        case "idle":
            return Permanent(
                "agent_timeout",
                f"The agent did not end in time: {message}",
                hint="Set a larger AWO_AGENT_IDLE_S, or find out what it waits for.",
            )
        case "crashed" | "interrupted":
            return Transient(
                "agent_crashed",
                f"The agent ended without a result: {message}",
                hint="Read the transcript; if it was killed for memory, give it more.",
            )
        case "no_output" | "protocol":
            return Permanent(
                "agent_protocol_error",
                f"The agent's output cannot be understood: {message}",
                hint="Check that the program is the agent you meant, and its version.",
            )
        case "exit_code":
            return Permanent(
                "agent_failed",
                f"The agent said that it failed: {message}",
                hint="Read the transcript, then retry with a prompt.",
                exit_code=error.exit_code if error.exit_code is not None else -1,
            )
    assert_never(error.kind)
