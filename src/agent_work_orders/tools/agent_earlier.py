"""What earlier attempts of a task left in its transcript: their session, and what they used. Pure.

An attempt writes what it has used as it is used (`METER`), because it may be lost with its server.
The journal counts each attempt once: by its answer, or, if it was lost, by the answer of the next
one, which reads it here. When the agent is done it writes what came of it (`ended`): committing is
a step of its own, and if that is cut off the next attempt commits and does not let the agent work
again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from agent_work_orders.agent_executor.agent import METER, Entry, Turn
from agent_work_orders.workflow_engine.events import Usage


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """A turn that is over, as far as anybody needs it afterwards."""

    text: str
    session_id: str | None = None
    scripted: bool = False
    saw_end: bool = False
    cumulative_cost_usd: float | None = None

    def turn(self) -> Turn:
        return Turn(ok=True, **{name: getattr(self, name) for name in self.__struct_fields__})


class Earlier(msgspec.Struct, kw_only=True):
    session_id: str | None = None
    """The agent's last session of this task, if its work is to be gone on with."""
    session_cost_usd: float | None = None
    """What the agent said that session had cost, to subtract from what it says next."""
    used: dict[int, Usage] = {}
    """By attempt."""
    ended: Ended | None = None
    """What the agent said at its end, if its work was done and only has to be committed."""


class _Mark(msgspec.Struct, frozen=True):
    usage: Usage
    attempt: int = 0
    session_id: str | None = None
    total_cost_usd: float | None = None


def mark(entry: Entry, attempt: int, before: Usage) -> tuple[Entry, Usage]:
    """The agent's line with the attempt it belongs to; `before` is what the attempt's earlier
    turns used. Also gives what this turn has used."""
    said = entry.data[METER]
    usage = msgspec.convert(said["usage"], Usage)
    whole = said | {"attempt": attempt, "usage": msgspec.to_builtins(before.plus(usage))}
    return Entry(kind=entry.kind, text=entry.text, data={METER: whole}), usage


def is_mark(entry: Entry) -> bool:
    return entry.kind == "system" and METER in entry.data


def over() -> Entry:
    """The end of what can be gone on with: the task is done, or it starts over."""
    return Entry(kind="system", text="this work is over", data={METER: {"over": True}})


def ended(turn: Turn, text_limit: int) -> Entry:
    """The agent is done; its files are what is to be committed."""
    said = Ended(
        text=turn.text[:text_limit],
        session_id=turn.session_id,
        scripted=turn.scripted,
        saw_end=turn.saw_end,
        cumulative_cost_usd=turn.cumulative_cost_usd,
    )
    data = {METER: {"ended": msgspec.to_builtins(said)}}
    return Entry(kind="system", text="the work is done, and committed next", data=data)


def not_ended() -> Entry:
    """What was done cannot be committed: the agent has to work again."""
    return Entry(kind="system", text="the work cannot be committed", data={METER: {"ended": None}})


def last_words(entries: Sequence[Entry]) -> str:
    """What the agent said when it was done last, whatever came of it; empty when it never was."""
    for entry in reversed(entries):
        said: Any = entry.data[METER] if is_mark(entry) else None
        if isinstance(said, dict) and said.get("ended"):
            try:
                return msgspec.convert(said["ended"], Ended).text
            except msgspec.ValidationError:
                continue
    return ""


def read(entries: Sequence[Entry]) -> Earlier:
    found = Earlier(used={})
    for entry in entries:
        if not is_mark(entry):
            continue
        said: Any = entry.data[METER]
        found.ended = None
        if isinstance(said, dict) and said.get("over") is True:
            found.session_id = found.session_cost_usd = None
            continue
        try:
            if isinstance(said, dict) and "ended" in said:
                found.ended = msgspec.convert(said["ended"], Ended | None)
                continue
            told = msgspec.convert(said, _Mark)
        except msgspec.ValidationError:
            continue
        found.used[told.attempt] = told.usage
        if told.session_id is not None and told.session_id != found.session_id:
            found.session_id, found.session_cost_usd = told.session_id, None
        if told.total_cost_usd is not None:
            found.session_cost_usd = told.total_cost_usd
    return found
