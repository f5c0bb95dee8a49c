"""What the simulated model answers: replies and faults, one per request, in order."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from agent_work_orders.errors import Refused
from agent_work_orders.workflow_engine import yaml_source


class Text(msgspec.Struct, frozen=True, kw_only=True, tag="text", forbid_unknown_fields=True):
    text: str


class Thinking(
    msgspec.Struct, frozen=True, kw_only=True, tag="thinking", forbid_unknown_fields=True
):
    thinking: str


class ToolUse(
    msgspec.Struct, frozen=True, kw_only=True, tag="tool_use", forbid_unknown_fields=True
):
    name: str
    input: dict[str, Any]


Block = Text | Thinking | ToolUse


class Reply(msgspec.Struct, frozen=True, kw_only=True, tag="reply", forbid_unknown_fields=True):
    """One assistant message. Without a stop reason it is `tool_use` when a tool is asked for."""

    blocks: tuple[Block, ...]
    stop_reason: str | None = None
    input_tokens: int = 1000
    output_tokens: int = 50
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    delay_s: float = 0.0

    @property
    def ends_with(self) -> str:
        if self.stop_reason is not None:
            return self.stop_reason
        asks = any(isinstance(block, ToolUse) for block in self.blocks)
        return "tool_use" if asks else "end_turn"


class Fault(msgspec.Struct, frozen=True, kw_only=True, tag="fault", forbid_unknown_fields=True):
    """Something going wrong instead of an answer.

    `status` answers with that HTTP status; `truncated` cuts the stream in the middle of a message;
    `hang` takes the request and never answers; `slow` sends the first event, then nothing;
    `reset` closes the connection without a byte. It lasts `times` requests, or for ever.
    """

    kind: Literal["status", "truncated", "hang", "slow", "reset"] = "status"
    status: int = 500
    message: str = "simulated fault"
    headers: dict[str, str] = {}
    times: int | None = None


class Outage(msgspec.Struct, frozen=True, kw_only=True, tag="outage", forbid_unknown_fields=True):
    """For so many seconds from the first request on, each request meets the next of the faults,
    around and around. Then the script goes on."""

    seconds: float
    faults: tuple[Fault, ...]


class Script(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Turns in order; when they are used up, `after` answers every further request."""

    turns: tuple[Reply | Fault | Outage, ...] = ()
    after: Reply | Fault = Reply(blocks=(Text(text="done"),))


def say(text: str) -> Reply:
    return Reply(blocks=(Text(text=text),))


def call(name: str, **arguments: Any) -> Reply:
    return Reply(blocks=(ToolUse(name=name, input=arguments),))


def load(text: str) -> Script:
    """A script from YAML or JSON. Raises `Refused` (`model_script_invalid`)."""
    try:
        return msgspec.convert(yaml_source.load(text, "script") or {}, Script)
    except (yaml_source.Unreadable, msgspec.ValidationError) as error:
        raise Refused(
            "model_script_invalid",
            f"The model script cannot be read: {error}",
            hint="Write `turns:`, a list of {type: reply, blocks: [...]} or {type: fault, ...}.",
        ) from error
