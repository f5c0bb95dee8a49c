"""Counting a JUnit report. Pure: bytes in, counts out.

Cases are counted one by one, never taken from the attributes of a suite: those lie. The report is
read as a stream, so that a hostile one costs time but no memory; one that declares a document type
(and with it entities) or is not well-formed is refused: a missing or short report is an error,
never a pass.
"""

from __future__ import annotations

from xml.parsers import expat

import msgspec

LIMIT_BYTES = 32 * 1024 * 1024
SHOWN_FAILURES = 20
SHOWN_CHARS = 300
_CHUNK_BYTES = 65_536


class Report(msgspec.Struct, frozen=True, kw_only=True):
    total: int
    failed: int
    skipped: int
    failures: tuple[str, ...]
    """`name: first line of the message`, the first few."""


class Unreadable(ValueError):
    """Not a JUnit report that we accept."""


def read(content: bytes) -> Report:
    if len(content) > LIMIT_BYTES:
        raise Unreadable("the report is too large")
    counter = _Counter()
    parser = expat.ParserCreate()
    parser.StartElementHandler = counter.start
    parser.EndElementHandler = counter.end
    parser.CharacterDataHandler = counter.text
    parser.StartDoctypeDeclHandler = _refuse
    try:
        for at in range(0, len(content), _CHUNK_BYTES):
            parser.Parse(content[at : at + _CHUNK_BYTES], False)
        parser.Parse(b"", True)
    except (expat.ExpatError, LookupError) as error:  # the latter for an unknown encoding
        raise Unreadable(f"the report is not well-formed: {error}") from error
    return counter.report()


def _refuse(*_declared: object) -> None:
    raise Unreadable("the report declares a document type")


class _Counter:
    """`testcase` elements, with what stands directly inside them."""

    def __init__(self) -> None:
        self._total = self._failed = self._skipped = 0
        self._failures: list[str] = []
        self._depth = 0
        self._case_depth = 0
        self._name = ""
        self._outcome = ""
        self._said = ""
        self._hearing = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if tag == "testcase" and not self._case_depth:
            self._case_depth = self._depth
            names = (attributes.get("classname"), attributes.get("name"))
            self._name = ".".join(filter(None, names))[:SHOWN_CHARS]
            self._outcome = self._said = ""
        elif self._case_depth and self._depth == self._case_depth + 1:
            if tag in ("failure", "error") and self._outcome != "failed":
                self._outcome = "failed"
                self._said = attributes.get("message", "")[:SHOWN_CHARS]
                self._hearing = not self._said
            elif tag == "skipped" and not self._outcome:
                self._outcome = "skipped"

    def text(self, text: str) -> None:
        if self._hearing and len(self._said) < SHOWN_CHARS:
            self._said += text[:SHOWN_CHARS]

    def end(self, _tag: str) -> None:
        if self._depth == self._case_depth + 1:
            self._hearing = False
        if self._case_depth and self._depth == self._case_depth:
            self._case_depth = 0
            self._count()
        self._depth -= 1

    def _count(self) -> None:
        self._total += 1
        self._skipped += self._outcome == "skipped"
        if self._outcome == "failed":
            self._failed += 1
            if len(self._failures) < SHOWN_FAILURES:
                lines = self._said.strip().splitlines()
                self._failures.append(f"{self._name}: {lines[0]}" if lines else self._name)

    def report(self) -> Report:
        return Report(
            total=self._total,
            failed=self._failed,
            skipped=self._skipped,
            failures=tuple(self._failures),
        )
