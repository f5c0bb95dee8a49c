"""What a person typed: a call of a command (`/plan 42`), or plain words. Pure."""

from __future__ import annotations

import re
import shlex

import msgspec

from agent_work_orders.command_loader.catalogue import Catalogue
from agent_work_orders.command_loader.command import NAME, Command
from agent_work_orders.command_loader.expansion import expand
from agent_work_orders.errors import Refused
from agent_work_orders.security import untrusted

_CALL = re.compile(r"/(\S+)(?:\s+(.*))?", re.DOTALL)


class TypedPrompt(msgspec.Struct, frozen=True, kw_only=True):
    prompt: str
    command: Command | None = None


def resolve(text: str, catalogue: Catalogue) -> TypedPrompt:
    """The prompt for the agent. Only a first word that is `/name` calls a command; a path such as
    `/etc/hosts` does not have the form of a name. Raises `Refused` for an unknown name."""
    stripped = text.strip()
    if not stripped:
        raise Refused("prompt_empty", "The prompt is empty", hint="Say what to do.", field="prompt")
    called = _CALL.fullmatch(stripped)
    if called is None or not NAME.fullmatch(called[1]):
        return TypedPrompt(prompt=embed(stripped))
    command = catalogue.get(called[1])
    raw = (called[2] or "").strip()
    return TypedPrompt(prompt=expand(command, _words(raw), raw=raw), command=command)


def embed(text: str, source: str = "request") -> str:
    """Plain words of a person as a prompt of ours."""
    return (
        "Do what the request below asks, in the repository of the current directory. "
        f"{untrusted.EXPLANATION}\n\n{untrusted.block(source, text)}\n"
    )


def _words(raw: str) -> list[str]:
    try:
        return shlex.split(raw)
    except ValueError:  # an apostrophe in plain words is not an open quote
        return raw.split()
