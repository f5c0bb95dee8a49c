"""YAML as data: text in, plain JSON-like values out, every problem with its place.

A workflow file may come from a stranger, so this reads a plain subset of YAML 1.2: no anchors,
no aliases, no tags, one document, string keys, no duplicates, limits on size and depth. `on`,
`no` and `yes` are text, as YAML 1.2 says.

Reading is event by event from libyaml's C parser: five times faster than a pure Python parser,
which matters for 10,000 tasks. Places are not kept while reading (that would double the cost);
`locate` reads the text once more when there is a problem to show.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

import msgspec
import yaml  # type: ignore[import-untyped]

try:
    from yaml.cyaml import CParser as _Parser  # type: ignore[import-untyped]
except ImportError:  # PyYAML without libyaml: slower, the same events
    from yaml import SafeLoader as _Parser

Path = tuple[str | int, ...]

# 10,000 tasks (the cap of a plan) of a realistic 120 bytes fit; FAULTS L1 asks that 10 MB do not.
MAX_SOURCE_BYTES = 2_000_000
MAX_NESTING = 64
# What a person can read at once; a broken file should not make a broken answer.
MAX_PROBLEMS = 100

_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_SPECIAL = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_WORDS: dict[str, bool | None] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True,
    "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_MAX_INT = 2**63 - 1
_QUOTE = 'Put quotes around values with templates: "{{ … }}".'


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing wrong with a workflow file. Lines and columns start at 1."""

    file: str
    line: int
    column: int
    path: str
    message: str
    hint: str = ""

    def __str__(self) -> str:
        hint = f" ({self.hint})" if self.hint else ""
        return f"{self.file}:{self.line}:{self.column}: {self.message}{hint}"


class Finding(msgspec.Struct, frozen=True):
    """A problem before it has a place."""

    path: Path
    message: str
    hint: str = ""


class Unreadable(Exception):
    """The text is not a document of the subset."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__(str(problems[0]))
        self.problems = problems


def load(text: str, file: str) -> Any:
    """The document as plain values. Raises `Unreadable`."""
    return _Reading(text, file, places=None).run()


def locate(text: str, file: str, findings: Iterable[Finding]) -> list[Problem]:
    """Give findings their places: that of the key or item, else of the nearest one around it."""
    places: dict[Path, tuple[int, int]] = {}
    _Reading(text, file, places=places).run()
    problems = []
    for finding in list(findings)[:MAX_PROBLEMS]:
        at = finding.path
        while at not in places and at:
            at = at[:-1]
        line, column = places.get(at, (1, 1))
        problems.append(
            Problem(
                file=file,
                line=line,
                column=column,
                path=dotted(finding.path),
                message=finding.message,
                hint=finding.hint,
            )
        )
    return sorted(problems, key=lambda problem: (problem.line, problem.column))


def dotted(path: Path) -> str:
    """`("tasks", "a", "needs", 0)` -> `tasks.a.needs[0]`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


class _Key:
    """Marks that a mapping waits for its next key."""


_WANT_KEY = _Key()


class _Reading:
    def __init__(self, text: str, file: str, *, places: dict[Path, tuple[int, int]] | None) -> None:
        self._text = text
        self._file = file
        self._places = places
        self._problems: list[Problem] = []
        self._root: Any = None
        self._stack: list[list[Any]] = []  # frames: container, pending key, its mark

    def run(self) -> Any:
        self._check_text()
        try:
            self._events()
        except yaml.YAMLError as error:
            self._problems.append(_syntax_problem(self._file, self._text, error))
        if self._problems:
            raise Unreadable(self._problems)
        return self._root

    def _check_text(self) -> None:
        try:
            size = len(self._text.encode())
        except UnicodeEncodeError as error:
            before = self._text[: error.start]
            line = before.count("\n")
            column = len(before) - (before.rfind("\n") + 1)
            raise Unreadable(
                [self._problem_at(line, column, "The text contains half a character", "")]
            ) from None
        if size > MAX_SOURCE_BYTES:
            message = f"The file has {size:,} bytes; the limit is {MAX_SOURCE_BYTES:,}"
            hint = "Split it into child workflows."
            raise Unreadable([self._problem_at(0, 0, message, hint)])

    def _events(self) -> None:
        parser = _Parser(self._text)
        documents = 0
        scalar, alias = yaml.ScalarEvent, yaml.AliasEvent
        starts = {yaml.MappingStartEvent: dict, yaml.SequenceStartEvent: list}
        ends = (yaml.MappingEndEvent, yaml.SequenceEndEvent)
        while parser.check_event():
            event = parser.get_event()
            kind = type(event)
            if kind is scalar:
                if event.anchor is not None or event.tag is not None:
                    self._refuse_properties(event)
                self._scalar(event)
            elif kind in starts:
                if event.anchor is not None or event.tag is not None:
                    self._refuse_properties(event)
                self._open(starts[kind](), event)
            elif kind in ends:
                self._stack.pop()
                self._next_key()
            elif kind is alias:
                self._problem(event, "Aliases (*name) are not allowed", "Write the value out.")
                raise Unreadable(self._problems)
            elif kind is yaml.DocumentStartEvent:
                documents += 1
                if documents > 1:
                    self._problem(event, "A second document starts here", "One workflow a file.")
                    return

    def _scalar(self, event: Any) -> None:
        """Nine of ten events come here, so the common way is written out."""
        value: Any = event.value
        frame = self._stack[-1] if self._stack else None
        if frame is not None and frame[1] is _WANT_KEY:
            if value in frame[0]:
                self._problem(event, f"The key `{value}` stands here twice", "Keep one of them.")
            frame[1] = value
            frame[2] = event.start_mark
            return
        if not event.style and event.implicit[0]:
            if value in _WORDS:
                value = _WORDS[value]
            elif value[0] in "-+.0123456789":
                value = self._number(event)
        if frame is None or self._places is not None:
            self._put(value, event)
            self._next_key()
        elif frame[1] is None:
            frame[0].append(value)
        else:
            frame[0][frame[1]] = value
            frame[1] = _WANT_KEY

    def _number(self, event: Any) -> Any:
        text: str = event.value
        if _INT.fullmatch(text):
            # Longer digit strings are slow to convert (quadratic), and no number of ours.
            number = int(text, 0 if text[:2] in ("0o", "0x") else 10) if len(text) < 22 else None
            if number is None or abs(number) > _MAX_INT:
                self._problem(event, f"{text[:30]} is too large for an integer", "Quote it.")
                return 0
            return number
        if _FLOAT.fullmatch(text):
            value = float(text)
            if math.isfinite(value):
                return value
            self._problem(event, f"{text[:30]} is too large for a number", "Quote it.")
            return 0
        if _SPECIAL.fullmatch(text):
            self._problem(event, f"{text} is not a JSON number", "Quote it if it is text.")
        return text

    def _open(self, container: Any, event: Any) -> None:
        if len(self._stack) >= MAX_NESTING:
            self._problem(event, f"Nested deeper than {MAX_NESTING} levels", "")
            raise Unreadable(self._problems)
        if self._stack and self._stack[-1][1] is _WANT_KEY:
            self._problem(event, "A key must be plain text", _QUOTE)
            raise Unreadable(self._problems)
        self._put(container, event)
        self._stack.append([container, _WANT_KEY if type(container) is dict else None, None])

    def _put(self, value: Any, event: Any) -> None:
        if not self._stack:
            self._root = value
        else:
            frame = self._stack[-1]
            container = frame[0]
            if type(container) is list:
                container.append(value)
            else:
                container[frame[1]] = value
        if self._places is not None:
            self._keep_place(event)

    def _next_key(self) -> None:
        """A value is complete."""
        if self._stack and type(self._stack[-1][0]) is dict:
            self._stack[-1][1] = _WANT_KEY

    def _keep_place(self, event: Any) -> None:
        assert self._places is not None
        path = tuple(
            len(frame[0]) - 1 if type(frame[0]) is list else frame[1] for frame in self._stack
        )
        key_mark = self._stack[-1][2] if self._stack else None
        mark = key_mark or event.start_mark
        self._places[path] = (mark.line + 1, mark.column + 1)

    def _refuse_properties(self, event: Any) -> None:
        if event.anchor is not None:
            self._problem(event, f"Anchors (&{event.anchor}) are not allowed", "Write values out.")
        if event.tag is not None:
            self._problem(
                event, f"Tags ({event.tag}) are not allowed", "Quote the value if it is text."
            )

    def _problem(self, event: Any, message: str, hint: str) -> None:
        mark = event.start_mark
        if len(self._problems) < MAX_PROBLEMS:
            self._problems.append(self._problem_at(mark.line, mark.column, message, hint))

    def _problem_at(self, line: int, column: int, message: str, hint: str) -> Problem:
        return Problem(
            file=self._file, line=line + 1, column=column + 1, path="", message=message, hint=hint
        )


def _syntax_problem(file: str, text: str, error: Any) -> Problem:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is not None:
        line, column = mark.line, mark.column
    else:  # a character that YAML does not know: libyaml counts bytes or characters
        position = min(getattr(error, "position", 0) or 0, len(text))
        line = text.count("\n", 0, position)
        column = position - (text.rfind("\n", 0, position) + 1)
    message = str(getattr(error, "problem", None) or getattr(error, "reason", None) or error)
    lines = text.splitlines()
    here = lines[line] if line < len(lines) else ""
    hint = ""
    if "\t" in here[: column + 1]:
        hint = "YAML is indented with spaces, not tabs."
    elif "{{" in here:
        hint = _QUOTE
    return Problem(
        file=file,
        line=line + 1,
        column=column + 1,
        path="",
        message=f"Not valid YAML: {message}",
        hint=hint,
    )
