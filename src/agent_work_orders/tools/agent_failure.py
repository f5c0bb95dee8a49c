"""What an agent's bad turn means for the task: wait, try again, or fail. Pure."""

from __future__ import annotations

from typing import assert_never

from agent_work_orders.agent_executor.agent import AgentError
from agent_work_orders.errors import Failed, Permanent, Transient
from agent_work_orders.tools.tool import Parked

# Without a reset time: an overloaded model is back in minutes, a used-up quota is not.
OVERLOADED_MS = 60_000
QUOTA_MS = 15 * 60_000
# What an agent says of the future is its word only: never at once, never longer than a week.
SHORTEST_MS = 1_000
LONGEST_MS = 7 * 24 * 3_600_000


def meaning(error: AgentError, now_ms: int) -> Failed | Parked:
    """What to raise."""
    message = error.message or error.kind
    match error.kind:
        case "auth":
            return Permanent(
                "agent_auth",
                f"The agent may not use its model: {message}",
                hint="Check the model's API key in the server's settings.",
            )
        case "server" | "network":
            return Transient(
                "agent_model_unreachable",
                f"The agent's model did not answer: {message}",
                hint="It is tried again by itself; if it stays so, check the network.",
                dependency="model",
            )
        case "invalid_request":
            return Permanent(
                "agent_request_invalid",
                f"The model refused the agent's request: {message}",
                hint="Check the model's name and the agent's options.",
            )
        case "rate_limit" | "overloaded":
            wait_ms = QUOTA_MS if error.kind == "rate_limit" else OVERLOADED_MS
            if error.retry_at_ms is not None:
                wait_ms = min(max(error.retry_at_ms - now_ms, SHORTEST_MS), LONGEST_MS)
            return Parked("model_quota", now_ms + wait_ms)
        case "max_turns" | "budget":
            return Permanent(
                "agent_limit_reached",
                f"The agent reached its limit: {message}",
                hint="Give it more turns or budget, or a smaller task, and retry.",
            )
        case "timeout" | "idle":
            return Permanent(
                "agent_timeout",
                f"The agent did not end in time: {message}",
                hint="Give the task a larger `timeout`, or find out what it waits for.",
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
