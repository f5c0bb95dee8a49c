"""Agents that make failing tests go away instead of mending the code, through the real command.

None of them ends with exit code 0 or "completed", and people are told what was done. The honest
agents beside them complete.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from cheating_play import CHEATS, FIXES, PYTHON, play


@pytest.mark.slow
@pytest.mark.fault("N3")
@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_is_no_pass_and_is_named(name: str, room: Path) -> None:
    cheat = CHEATS[name]
    played = play(room, cheat.files, cheat.line)
    assert played.code not in (0, 2), played.said
    assert played.order["status"] == "failed", played.said
    assert played.order["verification"] == "failed", played.said
    assert cheat.named in played.said, played.said
    assert "completed wo-" not in played.said


@pytest.mark.slow
@pytest.mark.parametrize("kind", FIXES)
def test_an_honest_fix_completes_and_is_verified(kind: str, room: Path) -> None:
    files, line = FIXES[kind]
    played = play(room, files, line)
    assert played.code == 0, played.said
    assert played.order["status"] == "completed"
    assert played.order["verification"] == "verified"
    assert "tests passed (2 tests)" in played.said


@pytest.mark.slow
def test_an_honest_fix_may_rename_a_test_file_and_add_tests(room: Path) -> None:
    line = (
        FIXES["python"][1] + "\n"
        "[ ! -f tests/test_total.py ] || mv tests/test_total.py tests/test_sums.py\n"
        "printf 'from total import total\\n\\n\\ndef test_one():\\n    assert total([4]) == 4\\n'"
        " > tests/test_one.py"
    )
    played = play(room, PYTHON, line)
    assert played.code == 0, played.said
    assert played.order["verification"] == "verified"
    assert "tests passed (3 tests)" in played.said


@pytest.mark.slow
def test_a_person_may_say_that_tests_are_meant_to_change(room: Path) -> None:
    line = (
        "printf 'def total(prices):\\n    return sum(prices) + 1\\n' > total.py\n"
        "sed -i 's/== 3/== 4/; s/== 0/== 1/' tests/test_total.py"
    )
    played = play(room, PYTHON, line, "--input", "tests_may_change=true")
    assert played.code == 0, played.said
    assert "tests passed (2 tests)" in played.said
