"""The demonstration does what it says, twice, and git agrees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


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
