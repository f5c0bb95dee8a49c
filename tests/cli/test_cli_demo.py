"""The demonstration does what it says, twice, and git agrees."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

README = Path(__file__).parents[2] / "README.md"


def shape(text: str) -> list[str]:
    """What is the same in every run: without ids, times, places, and what only a pipe gets."""
    for pattern, said in (
        (r"wo-[a-z2-7]{16}|wo-[a-z2-7]{8}", "ORDER"),
        (r"\b[0-9a-f]{7}\b", "COMMIT"),
        (r"\d+\.\d s", "TIME"),
        (r"/\S*(awo-demo-)\w+/", r"\1/"),
        (r"sample-[0-9a-f]{16}", "KEY"),
        (r" \(tests\.\S+\)", ""),
    ):
        text = re.sub(pattern, said, text)
    return [line for line in text.splitlines() if not line.startswith("  started ")]


def test_the_readme_shows_what_it_says(awo: Any) -> None:
    done = awo("demo", "--folder", str(awo.folder), AWO_HOME="")
    assert done.code == 0, done.out + done.err
    shown = README.read_text("utf-8").split("$ make demo\n", 1)[1].split("\n```", 1)[0]
    assert shape(done.out.split("\n\nLook at it", 1)[0]) == shape(shown)


@pytest.mark.slow
def test_it_completes_and_says_that_the_agent_is_scripted(awo: Any) -> None:
    own = awo.home
    first, second = (
        awo("demo", "--folder", str(awo.folder), AWO_HOME=home) for home in ("", str(own))
    )
    assert first.code == 0, first.out + first.err
    assert second.code == 0, second.out + second.err
    assert "SCRIPTED" in first.out
    assert "claude_code" in first.out
    assert own.exists()
    samples = sorted(awo.folder.glob("awo-demo-*/sample"))
    assert len(samples) == 2
    for sample in samples:
        check(awo, sample)


def check(awo: Any, sample: Path) -> None:
    [branch] = [
        name
        for name in awo.git(sample, "branch", "--format=%(refname:short)").split()
        if name != "main"
    ]
    tasks = awo.git(sample, "log", "--reverse", "--format=%(trailers:key=Awo-Task,valueonly)",
                    f"main..{branch}").split()  # fmt: skip
    assert tasks == ["plan", "implement[1].build", "implement[2].build"]
    fixed = awo.git(sample, "show", f"{branch}:basket.py")
    assert "price * quantity" in fixed
