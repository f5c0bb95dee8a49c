"""Rules: strict, with lines, section upon section."""

from __future__ import annotations

import pytest

from agent_work_orders.work_orders.incoming import rules
from agent_work_orders.work_orders.incoming.rules import DEFAULTS, BranchRule, Rules, RulesInvalid


def test_without_a_file_the_defaults_hold() -> None:
    for text in ("", "# nothing\n", "version: 1\n", "github: {}\n"):
        assert rules.parse(text) == DEFAULTS
    assert DEFAULTS.labels == {"awo": "agent_workflow_plan_build_test"}
    assert set(DEFAULTS.commands) == {"run", "review", "test"}


def test_a_section_replaces_the_one_below() -> None:
    server = rules.parse("github: {labels: {fix: one}, assignment: two}", "server.yaml")
    found = rules.parse("github: {labels: {go: three}, commands: {run: four}}", under=server)
    assert found.labels == {"go": "three"}
    assert found.assignment == "two"
    assert found.commands == {**DEFAULTS.commands, "run": "four"}


def test_everything_can_be_turned_off() -> None:
    text = "github: {labels: false, assignment: false, commands: false, push: false}"
    assert rules.parse(text) == Rules()
    assert rules.parse("github: {commands: true}", under=Rules()).commands == DEFAULTS.commands


def test_branch_rules() -> None:
    text = """
github:
  push: {workflow: a}
  check_failure: [{workflow: b, branches: main, checks: ["ci/*", lint]}]
  pull_request:
    - {workflow: c, on: [opened], drafts: true}
"""
    found = rules.parse(text)
    assert found.push == (BranchRule(workflow="a"),)
    assert found.check_failure == (
        BranchRule(workflow="b", branches=("main",), checks=("ci/*", "lint")),
    )
    assert found.pull_request == (BranchRule(workflow="c", on=("opened",), drafts=True),)
    assert found.push[0].takes("main", "main") and not found.push[0].takes("other", "main")


@pytest.mark.parametrize(
    ("name", "pattern", "expected"),
    [
        ("main", "main", True), ("main2", "main", False), ("release/1", "release/*", True),
        ("a.b", "a?b", False), ("x", "*", True), ("[x]", "[x]", True), ("x", "[x]", False),
    ],
)  # fmt: skip
def test_only_a_star_is_special(name: str, pattern: str, expected: bool) -> None:
    assert rules.fits(name, [pattern]) is expected


@pytest.mark.fault("L1")
@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("github:\n  label: {}\n", "2:3"),
        ("github:\n  labels:\n    awo: 7\n", "3:5"),
        ("github:\n  labels: {awo: ../x}\n", "2:12"),
        ("github:\n  push:\n    - {branches: [main]}\n", "3:7"),
        ("github:\n  push: [{workflow: a, checks: [x]}]\n", "2:24"),
        ("github:\n  pull_request: [{workflow: a, on: [closed]}]\n", "2:37"),
        ("github:\n  push: [{workflow: a, branches: ['****']}]\n", "2:35"),
        ("github:\n  commands: {approve: x}\n", "2:14"),
        ("other: 1\n", "1:1"),
        ("- a\n", "1:1"),
        ("github: &x {}\n", "1:9"),
        ("github: {}\ngithub: {}\n", "2:1"),
        ("version: 2\n", "1:1"),
        ("a: !!python/object:os.system x\n", "1:4"),
    ],
)
def test_a_mistake_has_its_line(text: str, place: str) -> None:
    with pytest.raises(RulesInvalid) as caught:
        rules.parse(text)
    assert f".awo/config.yaml:{place}:" in caught.value.message
    assert caught.value.context["problems"]


def test_it_is_bounded() -> None:
    many = "github:\n  labels:\n" + "".join(f"    l{n}: x\n" for n in range(51))
    with pytest.raises(RulesInvalid, match="More than 50"):
        rules.parse(many)
    with pytest.raises(RulesInvalid):
        rules.parse("github: " + "[" * 1_000)
