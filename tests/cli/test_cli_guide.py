"""The guide is true: its workflow is valid, and every command and option in it exists."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

GUIDE = (Path(__file__).parents[2] / "docs" / "guide.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", GUIDE, re.DOTALL | re.MULTILINE)
COMMANDS = sorted(
    {
        line.split("#")[0].strip()
        for _, block in BLOCKS
        for line in block.splitlines()
        if line.startswith("awo ")
    }
)


def test_the_workflow_of_the_guide_is_valid(awo: Any) -> None:
    [source] = [block for language, block in BLOCKS if language == "yaml"]
    (awo.folder / "guide.yaml").write_text(source)
    done = awo.inside("workflow", "lint", "guide.yaml")
    assert done.code == 0, done.err


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_guide_exists_with_its_options(awo: Any, command: str) -> None:
    words = command.split()[1:]
    verb = words[:2] if words[0] in ("workflow", "key", "audit") else words[:1]
    done = awo.inside(*verb, "--help")
    assert done.code == 0
    options = [word for word in words if word.startswith("-") and word != "-"]
    assert [option for option in options if option not in done.out] == []


def test_the_guide_has_commands() -> None:
    assert len(COMMANDS) > 12
