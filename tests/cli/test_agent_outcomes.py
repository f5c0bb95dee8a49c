"""docs/reference/agent-outcomes.md is true: each of its scripts is run and ends as it says."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "agent-outcomes.md"
# FAULTS G1: what a gigabyte of output may cost.
MORE_KIB = 50 * 1024


class Row(NamedTuple):
    name: str
    script: str
    options: tuple[str, ...]
    status: str
    error_code: str
    exit_code: int
    commits: int


class Ended(NamedTuple):
    row: Row
    found: Row
    peak_kib: int
    left: list[int]
    unsound: str


def rows() -> list[Row]:
    found = []
    for line in PAGE.read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 7 and cells[1].startswith("`"):
            name, script, options, status, code, exit_code, commits = cells
            found.append(
                Row(
                    name=name,
                    script=script.strip("`").replace("\\|", "|"),
                    options=tuple(shlex.split(options.strip("`"))),
                    status=status.strip("`"),
                    error_code=code.strip("`").replace("—", ""),
                    exit_code=int(exit_code),
                    commits=int(commits),
                )
            )
    return found


def play(awo: Any, row: Row) -> Ended:
    repository = awo.repository()
    agent = awo.agent(row.script)
    done = awo(
        "run", "--repo", "repo", "--workflow", "agent_workflow_build", "--agent", "command",
        "--agent-command", f"{agent} {{prompt_file}}", *row.options, "--json", "Do it",
    )  # fmt: skip
    order = done.json["agent_work_order"]
    branch = order["git_branch_name"]
    assert order["agent_work_order_id"] in branch
    heads = awo.git(repository, "for-each-ref", "--format=%(refname:short)").split()
    commits = 0
    if branch in heads:
        commits = int(awo.git(repository, "rev-list", "--count", f"main..{branch}"))
    unsound = awo.git(repository, "status", "--porcelain")
    for place in (repository, *(awo.home / "mirrors").glob("*.git")):
        awo.git(place, "fsck", "--strict", "--no-dangling")
    found = row._replace(
        status=order["status"],
        error_code=order["error_code"] or "",
        exit_code=done.code,
        commits=commits,
    )
    return Ended(row, found, done.peak_kib, awo.left_behind(), unsound)


@pytest.mark.slow
@pytest.mark.fault("G1")
@pytest.mark.fault("G5")
@pytest.mark.fault("G6")
@pytest.mark.fault("G11")
@pytest.mark.timeout(300)
def test_every_script_of_the_page_ends_as_it_says(another: Callable[[], Any]) -> None:
    table = rows()
    assert len(table) >= 11
    with ThreadPoolExecutor(4) as pool:
        ended = list(pool.map(lambda row: play(another(), row), table))
    assert [one.found for one in ended] == table
    assert {one.row.name: one.left for one in ended if one.left} == {}
    assert {one.row.name: one.unsound for one in ended if one.unsound} == {}
    peaks = {one.row.name: one.peak_kib for one in ended}
    assert peaks["prints 1 GB"] - peaks["edits a file"] < MORE_KIB
