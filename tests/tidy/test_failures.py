"""Error codes are literals, snake_case, of one kind each; fault marks name rows that exist."""

from __future__ import annotations

import re

import source_scan


def test_every_code_is_a_literal_in_snake_case() -> None:
    found, unclear = source_scan.failures()
    assert found
    assert unclear == []
    assert [f.code for f in found if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", f.code)] == []


def test_a_code_has_one_http_status() -> None:
    found, _ = source_scan.failures()
    statuses: dict[str, set[str]] = {}
    for failure in found:
        if failure.status != "—":
            statuses.setdefault(failure.code, set()).add(failure.status)
    assert {code: kinds for code, kinds in statuses.items() if len(kinds) > 1} == {}


def test_fault_marks_name_rows_of_the_catalogue() -> None:
    known = {code for group in source_scan.faults().values() for code in group}
    assert [cover for cover in source_scan.covers() if cover.fault not in known] == []


def test_every_failure_says_what_to_do() -> None:
    """All but our own bugs, for which a person can do nothing, and the fakes."""
    found, _ = source_scan.failures()
    silent = [
        f"{failure.where}: {failure.code}"
        for failure in found
        if not failure.hint and failure.kind != "Broken" and "/testing/" not in failure.where
    ]
    assert silent == []
