"""Every command that a message names exists as it is written, and a hint's can be typed."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
import source_scan
import typer.main

from agent_work_orders.cli.main import app

_COMMAND = re.compile(r"`(awo [^`]*)`")
PLACEHOLDER = "X"


class Mention(NamedTuple):
    command: str
    where: str
    hint: bool


def mentions() -> Iterator[Mention]:
    for module in source_scan.modules():
        hints = {id(text) for call in ast.walk(module.tree) for text in _hints(call)}
        for node in ast.walk(module.tree):
            for found in _COMMAND.findall(_text(node)):
                yield Mention(found, f"{module.where}:{node.lineno}", id(node) in hints)


def _hints(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Call):
        for keyword in node.keywords:
            if keyword.arg in ("hint", "otherwise"):
                yield from ast.walk(keyword.value)


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else PLACEHOLDER
            for part in node.values
        )
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return ""


def problem_of(command: str, *, whole: bool) -> str:
    """What is wrong with a command as it is written; empty when nothing is."""
    words = shlex.split(command)[1:]
    found: Any = typer.main.get_command(app)
    while words and hasattr(found, "commands") and not words[0].startswith("-"):
        name = words.pop(0)
        if name in ("COMMAND", "…"):
            return ""
        if name not in found.commands:
            return f"there is no command {name}"
        found = found.commands[name]
    options = {name: one for one in found.params for name in one.opts}
    arguments = 0
    while words:
        word = words.pop(0)
        if not word.startswith("-"):
            arguments += 1
        elif word != "--help" and word not in options:
            return f"it has no {word}"
        elif word != "--help" and not options[word].is_flag and words:
            words.pop(0)
    needed = [one for one in found.params if not one.opts[0].startswith("-") and one.required]
    if whole and hasattr(found, "commands") and "--help" not in command:
        return "it is only the beginning of a command"
    return "it needs more arguments" if whole and arguments < len(needed) else ""


def test_every_command_that_is_named_exists() -> None:
    every = list(mentions())
    assert len(every) > 50
    wrong = {
        f"{one.where}: {one.command}": problem
        for one in every
        if (problem := problem_of(one.command, whole=one.hint))
    }
    assert wrong == {}


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("awo lsit", "there is no command lsit"),
        ("awo list --stat failed", "it has no --stat"),
        ("awo show", "it needs more arguments"),
        ("awo key", "it is only the beginning of a command"),
        ("awo up --home X", ""),
        ("awo retry ORDER -m TEXT", ""),
    ],
)
def test_a_wrong_command_is_noticed(command: str, problem: str) -> None:
    assert problem_of(command, whole=True) == problem
