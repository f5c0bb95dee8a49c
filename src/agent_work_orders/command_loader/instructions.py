"""A repository's own instructions for agents, from the trusted base commit only. Pure.

The copies in a pull request's head are files to work on, never instructions.
"""

from __future__ import annotations

from collections.abc import Mapping

from agent_work_orders.command_loader.command import is_command_file
from agent_work_orders.command_loader.prompts import FOLDER as PROMPTS

SOURCES = ("AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md", ".awo/instructions.md")

# One argument of a program is at most 128 KiB; instructions longer than this are not read anyway.
FILE_LIMIT_BYTES = 32 * 1024


def is_wanted(path: str) -> bool:
    """Whether this room reads a file of the base commit: so the caller reads no others."""
    return path in SOURCES or is_command_file(path) or path.startswith(PROMPTS + "/")


def gather(tree: Mapping[str, bytes]) -> str:
    """All instructions as one text; a file that repeats another is given once."""
    parts: list[str] = []
    seen: set[str] = set()
    for path in SOURCES:
        text = _read(tree.get(path, b""))
        if not text or text in seen or text in ("@AGENTS.md", "@CLAUDE.md"):
            continue
        seen.add(text)
        parts.append(f"# Instructions of this repository ({path})\n\n{text}")
    return "\n\n".join(parts)


def _read(content: bytes) -> str:
    text = content[:FILE_LIMIT_BYTES].decode("utf-8-sig", "ignore").replace("\0", "").strip()
    if len(content) > FILE_LIMIT_BYTES:
        text += f"\n\n[cut: the file has {len(content)} bytes]"
    return text
