"""Which lines of a file can be commented on: those that its patch shows."""

from __future__ import annotations

import re

import msgspec

_HUNK = re.compile(r"@@ -(?P<old>\d{1,9})(?:,\d{1,9})? \+(?P<new>\d{1,9})(?:,\d{1,9})? @@")


class Lines(msgspec.Struct, frozen=True):
    """Line numbers of each side; each is mapped to the number of its hunk."""

    old: dict[int, int]
    new: dict[int, int]

    def hunk(self, side: str, line: int) -> int | None:
        return (self.old if side == "LEFT" else self.new).get(line)


def lines(patch: str) -> Lines:
    """Of a patch as `pulls/list-files` gives it (hunks without file headers)."""
    shown = Lines(old={}, new={})
    old = new = hunk = 0
    for line in patch.split("\n"):
        head = _HUNK.match(line)
        if head is not None:
            old, new, hunk = int(head["old"]), int(head["new"]), hunk + 1
        elif hunk and line.startswith("+"):
            shown.new[new] = hunk
            new += 1
        elif hunk and line.startswith("-"):
            shown.old[old] = hunk
            old += 1
        elif hunk and line.startswith(" "):
            shown.old[old] = shown.new[new] = hunk
            old, new = old + 1, new + 1
    return shown
