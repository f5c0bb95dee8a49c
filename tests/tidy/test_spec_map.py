"""docs/spec-map.md has every row of the specification, and what it calls done exists."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest
import source_scan

ROOT = source_scan.ROOT
# How many rows each chapter of the specification has; they are numbered from 1.
CHAPTERS = {
    "WO": 11, "WF": 13, "TL": 3, "EN": 5, "AG": 9, "SB": 9, "GH": 11, "IR": 6, "RV": 5, "TP": 6,
    "SC": 2, "RB": 9, "HI": 3, "SE": 8, "OB": 6, "AP": 2, "UI": 7, "CL": 1, "OP": 8, "TR": 17,
}  # fmt: skip
STATES = {"done", "partial", "planned"}
STARTS = (source_scan.SOURCE, source_scan.TESTS, ROOT, ROOT / "src")


class Row(NamedTuple):
    id: str
    what: str
    module: str
    test: str
    state: str


def rows() -> list[Row]:
    text = (ROOT / "docs" / "spec-map.md").read_text(encoding="utf-8")
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]
    return [Row(*row) for row in cells if re.fullmatch(r"[A-Z]{2}\d+", row[0])]


def paths(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def exists(path: str) -> bool:
    """A module is named from the package, a test from tests/, other things from the top."""
    return any((start / path).exists() for start in STARTS)


def test_every_row_is_there_once() -> None:
    expected = [f"{name}{n}" for name, count in CHAPTERS.items() for n in range(1, count + 1)]
    assert [row.id for row in rows()] == expected


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.id)
def test_what_is_built_names_its_module_and_test(row: Row) -> None:
    assert row.what
    assert row.state in STATES
    if row.state == "planned":
        assert (row.module, row.test) == ("", ""), "a planned row names nothing"
        return
    assert paths(row.module)
    assert paths(row.test)
    assert [path for path in paths(row.module) + paths(row.test) if not exists(path)] == []


def test_a_todo_has_a_row() -> None:
    """Ruff refuses TODO in Python; the other files are looked at here."""
    known = {row.id for row in rows()}
    files = [*(ROOT / "docs").rglob("*.md"), *source_scan.SOURCE.rglob("*.yaml")]
    files += source_scan.SOURCE.rglob("*.sql")
    found = [
        f"{path.name}: {line.strip()}"
        for path in files
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"\b(TODO|FIXME|XXX)\b(?!,)", line) and not any(row in line for row in known)
    ]
    assert found == []
