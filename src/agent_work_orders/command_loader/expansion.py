"""A command and its arguments as one prompt. One pass: a value is never read again. Pure.

`$ARGUMENTS` is all arguments, `$ARGUMENTS[0]` the first. `$1` is the first, as in most written
commands; a body that uses `$0` counts from 0, as newer versions of Claude Code do. A positional
that was not given is empty. Short one-line values stand in the text; everything else becomes a
marked block, as does all `context`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from agent_work_orders.command_loader.command import Command
from agent_work_orders.security import untrusted

_PLACEHOLDER = re.compile(r"\$ARGUMENTS\[(\d{1,2})\]|\$ARGUMENTS(?![A-Za-z0-9_\[])|\$(\d{1,2})\b")

INLINE_LIMIT_CHARS = 200


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """Something the agent should know: the request, an issue, test failures."""

    source: str
    """Our own word for where it is from."""
    text: str


def takes_arguments(command: Command) -> bool:
    return _PLACEHOLDER.search(command.body) is not None


def positions(command: Command) -> int:
    """How many arguments it reads one by one."""
    first = _first(command)
    last = 0
    for found in _PLACEHOLDER.finditer(command.body):
        if found[1] is not None:
            last = max(last, int(found[1]) + 1)
        elif found[2] is not None:
            last = max(last, int(found[2]) - first + 1)
    return last


def expand(
    command: Command,
    arguments: Sequence[str] = (),
    *,
    raw: str | None = None,
    context: Sequence[Context] = (),
) -> str:
    """The prompt. `raw` is the argument text as a person wrote it, for `$ARGUMENTS`."""
    joined = raw if raw is not None else " ".join(arguments)
    first = _first(command)

    def value(found: re.Match[str]) -> str:
        if found[1] is not None:
            return _embedded(_at(arguments, int(found[1])))
        if found[2] is not None:
            return _embedded(_at(arguments, int(found[2]) - first))
        return _embedded(joined)

    text = _PLACEHOLDER.sub(value, command.body)
    if joined and not takes_arguments(command):
        text = f"{text}\nArguments: {_embedded(joined)}\n"
    blocks = [untrusted.block(part.source, part.text) for part in context if part.text.strip()]
    if not blocks and "<untrusted " not in text:
        return text
    return "\n\n".join([text.rstrip(), untrusted.EXPLANATION, *blocks]) + "\n"


def _first(command: Command) -> int:
    return 0 if re.search(r"\$0\b", command.body) else 1


def _at(arguments: Sequence[str], index: int) -> str:
    return arguments[index] if 0 <= index < len(arguments) else ""


def _embedded(value: str) -> str:
    plain = value.isprintable() and len(value) <= INLINE_LIMIT_CHARS and "<" not in value
    return value if plain else untrusted.block("argument", value)
