"""Counting a JUnit report. Pure: bytes in, counts out.

Cases are counted one by one, never taken from the attributes of a suite (they lie, FACTS). A
report with entities or that is not well-formed is refused: a missing or short report is an error,
never a pass.
"""

from __future__ import annotations

from xml.etree import ElementTree
from xml.parsers import expat

import msgspec

LIMIT_BYTES = 32 * 1024 * 1024
SHOWN_FAILURES = 20


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
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise Unreadable("the report declares entities")
    try:
        root = ElementTree.fromstring(content)
    except (ElementTree.ParseError, expat.ExpatError) as error:
        raise Unreadable(f"the report is not well-formed: {error}") from error
    total = failed = skipped = 0
    failures: list[str] = []
    for case in root.iter("testcase"):
        total += 1
        bad = case.find("failure")
        if bad is None:
            bad = case.find("error")
        if bad is not None:
            failed += 1
            if len(failures) < SHOWN_FAILURES:
                name = ".".join(filter(None, (case.get("classname"), case.get("name"))))
                said = (bad.get("message") or bad.text or "").strip().splitlines()
                failures.append(f"{name}: {said[0][:300]}" if said else name)
        elif case.find("skipped") is not None:
            skipped += 1
    return Report(total=total, failed=failed, skipped=skipped, failures=tuple(failures))
