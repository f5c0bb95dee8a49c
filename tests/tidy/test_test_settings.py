"""What a test asks of the environment can reach it."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


def asked(path: Path) -> Iterator[str]:
    """Variables that a module reads from its own environment, by literal name."""
    text = path.read_text()
    if "environ" not in text and "getenv" not in text:
        return
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Attribute(attr="environ"), attr="get"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                yield name
            case ast.Call(
                func=ast.Attribute(attr="getenv"), args=[ast.Constant(value=str(name)), *_]
            ):
                yield name
            case ast.Subscript(
                value=ast.Attribute(attr="environ"),
                slice=ast.Constant(value=str(name)),
                ctx=ast.Load(),
            ):
                yield name


MODULES = [path for path in sorted(TESTS.rglob("*.py")) if "node_modules" not in path.parts]


def test_the_suite_takes_our_settings_away() -> None:
    assert [name for name in os.environ if name.startswith("AWO_")] == []


@pytest.mark.parametrize("told", ["os.environ.get('AWO_X', '1')", "os.environ['AWO_X']"])
def test_a_reading_is_seen(told: str, tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(f"import os\nX = {told}\n")
    assert list(asked(module)) == ["AWO_X"]


def test_nothing_is_asked_that_the_suite_takes_away() -> None:
    """A long form that is chosen by such a variable never runs, and nobody is told."""
    unheard = {
        f"{path.relative_to(TESTS)}: {name}"
        for path in MODULES
        for name in asked(path)
        if name.startswith("AWO_")
    }
    assert unheard == set()
