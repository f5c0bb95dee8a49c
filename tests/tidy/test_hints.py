"""Every command that a message names exists as it is written, a hint's can be typed, and a test
with that error follows it."""

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
_CLI = "cli/test_cli_hints.py::test_"
_PEOPLE = "campaign/test_people_at_pull_requests.py::test_"
# Of every code whose hint names a command, the test that makes the error and types the command.
FOLLOWED = {
    f"{_CLI}what_is_not_known_is_listed": {
        "api_key_unknown", "approval_unknown", "artifact_unknown", "credential_unknown",
        "delivery_unknown", "order_unknown", "task_unknown", "workflow_unknown",
        "nothing_to_check_out", "run_unknown", "patch_too_large", "review_unknown",
    },
    f"{_CLI}an_artifact_that_could_be_several_is_found_in_the_list": {"artifact_ambiguous"},
    f"{_CLI}what_the_directory_lacks_or_has_too_new": {
        "backup_missing", "schema_other", "schema_too_new",
    },
    f"{_CLI}what_is_damaged_is_named": {
        "row_damaged", "run_quarantined", "idempotency_key_damaged", "intake_full",
    },
    f"{_CLI}what_a_server_refuses": {
        "key_missing", "link_invalid", "page_unproven", "session_ended", "sign_in_choice",
        "server_silent", "server_unreachable", "data_directory_in_use", "api_key_invalid",
    },
    f"{_CLI}what_needs_a_server": {"server_needed", "bind_needs_keys"},
    f"{_CLI}what_was_typed_wrongly": {"usage"},
    f"{_CLI}what_came_back_from_github_is_no_code": {"github_code_invalid"},
    "cli/test_cli_sandboxes.py::test_hints_help": {
        "argv_invalid", "sandbox_not_made", "sandbox_unknown", "terminal_needed",
    },
    "cli/test_cli_sandboxes.py::test_one_in_use_is_refused_unless_forced": {"sandbox_in_use"},
    "cli/test_github_setup.py::test_from_nothing_to_the_first_pull_request": {"app_known"},
    f"{_PEOPLE}merged_early_it_says_what_is_not_in_it": {"pull_request_merged"},
    f"{_PEOPLE}what_could_not_be_delivered_is_said_before_an_agent_is_paid": {
        "github_permission_missing",
    },
}  # fmt: skip


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


def told() -> set[str]:
    """The codes of what the command line itself says with a command in its hint."""
    found = set()
    for module in source_scan.modules():
        for call in ast.walk(module.tree):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") in ("Told", "Again"):
                if any(_COMMAND.search(_text(part)) for part in _hints(call)):
                    found |= codes(call.args[0])
    return found


def codes(node: ast.AST) -> set[str]:
    """The words of an expression that can be one."""
    parts = [node.body, node.orelse] if isinstance(node, ast.IfExp) else [node]
    return {str(one.value) for one in parts if isinstance(one, ast.Constant)}


def test_every_hint_with_a_command_is_followed() -> None:
    named = {one.code for one in source_scan.failures()[0] if _COMMAND.search(one.hint)}
    named |= told()
    assert {"order_unknown", "server_silent", "artifact_ambiguous"} <= named
    assert named - set().union(*FOLLOWED.values()) == set()


@pytest.mark.parametrize("test", FOLLOWED)
def test_the_test_that_follows_a_hint_has_its_error(test: str) -> None:
    file, _, name = test.partition("::")
    tree = ast.parse((source_scan.TESTS / file).read_text("utf-8"))
    [body] = [one for one in ast.walk(tree) if getattr(one, "name", "") == name]
    said = {one.value for one in ast.walk(body) if isinstance(one, ast.Constant)}
    assert FOLLOWED[test] - said == set()
