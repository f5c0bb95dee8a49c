"""What people see: plain and stable lines in a pipe, a little colour on a terminal.

Whatever agents, repositories and issues wrote passes cli/marks.py first. A patch that goes into a
pipe or a file is for programs and goes there as it is.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from typing import Any

from agent_work_orders.cli import marks

_NAMES = {
    "succeeded": "done",
    "completed": "done",
    "failed": "failed",
    "cancelled": "cancelled",
    "skipped": "skipped",
    "running": "started",
    "awaiting_approval": "waiting",
}
_COLOURS = {
    "done": "32",
    "completed": "32",
    "ok": "32",
    "failed": "31",
    "error": "31",
    "cancelled": "33",
    "waiting": "33",
    "paused": "33",
    "warning": "33",
    "note": "33",
    "started": "36",
    "running": "36",
}


clean = marks.line
"""Every line that may hold a stranger's text passes it."""


def json_text(value: Any, *, indent: int | None = None) -> str:
    """JSON that every parser reads: a number that is none is null, as the API has it."""
    try:
        return json.dumps(value, indent=indent, ensure_ascii=True, default=str, allow_nan=False)
    except ValueError:
        whole = _finite(value)
        return json.dumps(whole, indent=indent, ensure_ascii=True, default=str, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value


def print_json(value: Any) -> None:
    sys.stdout.write(json_text(value, indent=2) + "\n")
    sys.stdout.flush()


class Screen:
    """Lines to stdout. Colour only on a terminal, and never the only sign."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet = quiet
        self.terminal = sys.stdout.isatty()

    def line(self, text: str = "", *, indent: int = 0) -> None:
        if not self.quiet:
            sys.stdout.write(" " * indent + clean(text) + "\n")
            sys.stdout.flush()

    def heading(self, text: str) -> None:
        if not self.quiet:
            sys.stdout.write(self._styled(clean(text), "1") + "\n")
            sys.stdout.flush()

    def marked(self, mark: str, text: str, *, indent: int = 2, width: int = 9) -> None:
        """A word that says how it stands, and what stands so."""
        if self.quiet:
            return
        word = self._styled(mark.ljust(width), _COLOURS.get(mark, ""))
        sys.stdout.write(" " * indent + word + " " + clean(text) + "\n")
        sys.stdout.flush()

    def pairs(self, rows: Sequence[tuple[str, str | None]], *, indent: int = 2) -> None:
        """Names and values below each other; empty ones are left out."""
        kept = [(name, value) for name, value in rows if value]
        width = max((len(name) for name, _ in kept), default=0)
        for name, value in kept:
            self.line(f"{name.ljust(width)}  {value}", indent=indent)

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Aligned columns; the last one may be as long as it is."""
        if self.quiet:
            return
        cells = [[clean(cell) for cell in row] for row in rows]
        widths = [
            max([len(title), *(len(row[column]) for row in cells)])
            for column, title in enumerate(head)
        ]
        title = "  ".join(name.ljust(width) for name, width in zip(head, widths, strict=True))
        sys.stdout.write(self._styled(title.rstrip().upper(), "2") + "\n")
        for row in cells:
            padded = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
            line = "  ".join(padded).rstrip()
            sys.stdout.write(self._fitted(line) + "\n")
        sys.stdout.flush()

    def block(self, text: str) -> None:
        if not self.quiet:
            sys.stdout.write(marks.block(text).rstrip("\n") + "\n")
            sys.stdout.flush()

    @staticmethod
    def told(text: str) -> str:
        """For the other stream."""
        return clean(text)

    def patch(self, content: bytes) -> None:
        """A patch: as it is for programs; for people marked and coloured, and without what no
        person can read."""
        if not self.terminal:
            sys.stdout.flush()
            sys.stdout.buffer.write(content)
            sys.stdout.flush()
            return
        text = content.decode("utf-8", "replace")
        binary = False
        for line in marks.patch(text.removesuffix("\n")).split("\n"):
            binary = binary and not line.startswith("diff --git ")
            if binary:
                continue
            # Lines of files have a character before them.
            if line == "GIT binary patch":
                binary, line = True, "Binary files differ"
            code = ""
            if line.startswith(("+++", "---", "diff ", "index ")):
                code = "1"
            elif line.startswith(("+", "-", "@@")):
                code = {"+": "32", "-": "31", "@": "36"}[line[0]]
            sys.stdout.write(self._styled(line, code) + "\n")
        sys.stdout.flush()

    def _fitted(self, line: str) -> str:
        if not self.terminal:
            return line
        import shutil

        width = shutil.get_terminal_size().columns
        return line if len(line) <= width else line[: width - 1] + "…"

    def _styled(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.terminal and code else text


def state_word(state: str) -> str:
    return _NAMES.get(state, state)


def short(order_id: str) -> str:
    """Enough of an id to type."""
    return order_id[:11]


def seconds(milliseconds: int) -> str:
    whole = max(0, milliseconds) / 1000
    if whole < 60:
        return f"{whole:.1f} s"
    minutes, rest = divmod(int(whole), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def first_line(text: str, limit: int = 100) -> str:
    line = clean(next((row for row in text.splitlines() if row.strip()), "")).strip()
    return line if len(line) <= limit else line[: limit - 1] + "…"


def count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
