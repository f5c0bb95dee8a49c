"""The answer of an agent in the form that its task asks for: a JSON value that fits a schema. Pure.

What an agent says is data: a value that does not fit in anything is no answer. It is told what was
wrong, in its own session, a few times; then the task fails.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from agent_work_orders.security import untrusted
from agent_work_orders.workflow_engine import shapes

MOST_REPAIRS = 2
ANSWER_LIMIT = 64_000
"""Characters of what the agent said, of which the answer is the end. It becomes a row of the
journal."""
_DEPTH = 32
_BLOCK = re.compile(r"```(?:json)?[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)


class NoAnswer(Exception):
    """What is wrong with it, in words for the agent and for people."""


def wanted(schema: shapes.Schema) -> str:
    """What the agent is asked for, behind its prompt."""
    written = msgspec.json.format(msgspec.json.encode(schema), indent=1).decode()
    return (
        "\nWhen you are done, end with one fenced block of JSON that fits this JSON Schema, and "
        f"write nothing after it:\n\n```json\n{written}\n```\n"
    )


def again(problem: str) -> str:
    """What the agent is told when its answer could not be used."""
    said = untrusted.block("problem", problem)
    return (
        "The block of JSON at the end of your answer could not be used:\n\n"
        f"{said}\n\nAnswer once more, with only that block. Change no file.\n"
    )


def read(said: str, schema: shapes.Schema) -> Any:
    """The value at the end of an answer. Raises NoAnswer."""
    blocks = _BLOCK.findall(said)
    content = blocks[-1] if blocks else said.strip()
    if not content:
        raise NoAnswer("there is none")
    try:
        value = msgspec.json.decode(content.encode("utf-8", "replace"))
    except (msgspec.DecodeError, RecursionError) as error:
        raise NoAnswer(f"it is not JSON: {error}") from None
    if _too_deep(value):
        raise NoAnswer(f"it is nested more than {_DEPTH} times")
    wrong = shapes.mismatch(value, schema)
    if wrong is not None:
        at = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in wrong[0])
        raise NoAnswer(f"at {at.lstrip('.')[:200]}: {wrong[1]}" if at else wrong[1])
    return value


def _too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(_DEPTH):
        level = [
            inner
            for one in level
            if isinstance(one, list | dict)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return False
    return True
