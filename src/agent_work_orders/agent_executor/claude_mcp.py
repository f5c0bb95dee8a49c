"""MCP servers that the operator gives to Claude Code: what may stand in their file. Pure.

The file is `{"mcpServers": {name: server}}`, as Claude Code itself reads it; a server has a command
(`args`, `env`) or a url (`headers`). It comes from the operator, never from a repository.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

FILE = "mcp.json"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SECRET = re.compile(r"(?i)key|token|secret|passw|auth|credential")
_KNOWN = ("type", "command", "args", "env", "url", "headers")


def servers(text: str) -> dict[str, dict[str, Any]]:
    """Raises ValueError, which says what is wrong and repeats no value: there may be secrets."""
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError):
        raise ValueError("a file of JSON") from None
    if not isinstance(found, dict) or set(found) != {"mcpServers"}:
        raise ValueError('a file of JSON with one key, "mcpServers"')
    named = found["mcpServers"]
    if not isinstance(named, dict) or not all(map(_NAME.fullmatch, named)):
        raise ValueError("servers by name: letters, digits, - and _, at most 64")
    for name, server in named.items():
        problem = _problem(server)
        if problem is not None:
            raise ValueError(f"of the server {name!r}: {problem}")
    return named


def secrets(text: str) -> tuple[str, ...]:
    """What stands in it that nobody should read elsewhere: headers, and variables so named."""
    return tuple(_values(servers(text))) if text else ()


def _problem(server: Any) -> str | None:
    if not isinstance(server, dict):
        return "an object is wanted"
    strange = [key for key in server if key not in _KNOWN]
    if strange:
        return f"only these are known: {', '.join(_KNOWN)}"
    if ("command" in server) == ("url" in server):
        return "either a command or a url"
    for key in ("command", "url", "type"):
        if key in server and not (isinstance(server[key], str) and server[key]):
            return f"{key} is a text"
    args = server.get("args", [])
    if not isinstance(args, list) or not all(isinstance(one, str) for one in args):
        return "args is a list of texts"
    for key in ("env", "headers"):
        values = server.get(key, {})
        if not isinstance(values, dict) or not all(isinstance(v, str) for v in values.values()):
            return f"{key} is texts by name"
    if "${" in msgspec.json.encode(server).decode():
        return "${…} has no meaning here: the agent's environment is not the server's"
    return None


def _values(named: dict[str, dict[str, Any]]) -> Iterator[str]:
    for server in named.values():
        yield from (v for name, v in server.get("env", {}).items() if _SECRET.search(name))
        for value in server.get("headers", {}).values():
            yield value
            scheme, _, token = value.partition(" ")
            if scheme.lower() in ("bearer", "basic", "token"):
                yield token
