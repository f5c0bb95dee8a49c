"""One `.claude/commands/**/*.md` file: front matter, body, and the rules both must keep. Pure.

Files are read from the trusted base commit only, and are still treated as data: a file that breaks
a rule is listed with its problem and cannot be called; it never stops the others.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Any, Literal

import msgspec

from agent_work_orders.errors import Refused
from agent_work_orders.workflow_engine import yaml_source

FOLDER = ".claude/commands"

# A command is a prompt of a few pages. Claude Code has no limit; a model's patience has.
COMMAND_LIMIT_BYTES = 64 * 1024
FRONT_MATTER_LIMIT_BYTES = 8 * 1024
DEPTH_LIMIT = 4

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}(?::[A-Za-z0-9][A-Za-z0-9._-]{0,63}){0,3}")
_SEGMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
# What is read of the front matter, and whether it may be a list.
_READ = {"description": False, "argument-hint": True, "allowed-tools": True, "model": False}
_PAIR = re.compile(r"([A-Za-z][A-Za-z0-9_-]*):(?:[ \t]+(.*))?")


class Command(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    """`plan`; a file in a folder is `folder:name`."""
    body: str
    source: Literal["repository", "builtin"]
    path: str
    description: str = ""
    argument_hint: str = ""
    allowed_tools: tuple[str, ...] = ()
    """What the file asks for. Shown, not granted: permissions are the server's policy."""
    model: str | None = None


def is_command_file(path: str) -> bool:
    return path.startswith(FOLDER + "/") and path.endswith(".md")


def parse(path: str, content: bytes, *, source: Literal["repository", "builtin"]) -> Command:
    """Raises `Refused` (`command_invalid`) that names the file and the rule."""
    name = _name(path)
    if len(content) > COMMAND_LIMIT_BYTES:
        raise _invalid(path, f"it is larger than {COMMAND_LIMIT_BYTES // 1024} KiB")
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise _invalid(path, "it is not UTF-8 text") from error
    if "\0" in text:
        raise _invalid(path, "it contains a NUL character")
    matter, body = _split(path, text)
    if not body.strip():
        raise _invalid(path, "it has no text after its front matter")
    return Command(
        name=name,
        body=body.strip() + "\n",
        source=source,
        path=path,
        description=_text(matter.get("description")) or _first_line(body),
        argument_hint=_text(matter.get("argument-hint")),
        allowed_tools=_listed(matter.get("allowed-tools")),
        model=_text(matter.get("model")) or None,
    )


def _name(path: str) -> str:
    parts = PurePosixPath(path.removeprefix(FOLDER + "/")).with_suffix("").parts
    if not parts or len(parts) > DEPTH_LIMIT:
        raise _invalid(path, f"commands lie at most {DEPTH_LIMIT - 1} folders deep")
    for part in parts:
        if not _SEGMENT.fullmatch(part):
            raise _invalid(path, "a name has letters, digits, '.', '_' and '-', at most 64")
    return ":".join(parts)


def _split(path: str, text: str) -> tuple[dict[str, Any], str]:
    if not text.startswith("---\n"):
        return {}, text
    matter, end, body = text[4:].partition("\n---\n")
    if not end:
        if text.rstrip().endswith("\n---") or text[4:].startswith("---\n"):
            raise _invalid(path, "it has no text after its front matter")
        raise _invalid(path, "its front matter has no closing '---' line")
    if len(matter.encode()) > FRONT_MATTER_LIMIT_BYTES:
        raise _invalid(path, "its front matter is larger than 8 KiB")
    found = _matter(path, matter)
    _check_values(path, found, matter)
    return found, body


def _matter(path: str, text: str) -> dict[str, Any]:
    """YAML, or plain `key: value` lines: `argument-hint: [a] [b]` is common and not YAML."""
    try:
        value = yaml_source.load(text, path)
    except yaml_source.Unreadable:
        return _pairs(path, text)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _invalid(path, "its front matter is not a mapping")
    return {str(key): item for key, item in value.items()}


def _check_values(path: str, found: dict[str, Any], text: str) -> None:
    """What is read of them is text; a list of texts where that is common."""
    for key, listed in _READ.items():
        value = found.get(key)
        items = value if listed and isinstance(value, list) else [value]
        if any(isinstance(item, dict | list) for item in items):
            lines = enumerate(text.splitlines(), start=2)
            line = next((number for number, row in lines if row.startswith(f"{key}:")), 1)
            raise _invalid(path, f"its `{key}` is not text", line)


def _pairs(path: str, text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for number, line in enumerate(text.splitlines(), start=2):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        pair = _PAIR.fullmatch(line)
        if pair is None:
            raise _invalid(path, f"line {number} of its front matter is not `key: value`", number)
        found[pair[1]] = (pair[2] or "").strip()
    return found


def _text(value: Any) -> str:
    """One line for people. A YAML list is what `[issue]` becomes when it is meant as a hint."""
    if value is None:
        return ""
    if isinstance(value, list):
        return " ".join(f"[{item}]" for item in value)[:500]
    return " ".join(str(value).split())[:500]


def _listed(value: Any) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(str(item) for item in value)
    return tuple(part.strip() for part in str(value or "").split(",") if part.strip())


def _first_line(body: str) -> str:
    line = next((line for line in body.splitlines() if line.strip()), "")
    return line.lstrip("# ").strip()[:200]


def _invalid(path: str, problem: str, line: int = 1) -> Refused:
    return Refused(
        "command_invalid",
        f"The command file {path} cannot be used: {problem}",
        hint="Correct the file on the base branch.",
        path=path,
        line=line,
    )
