"""Which events start which workflow: `.awo/config.yaml` on the default branch, and the server's.

```yaml
github:
  labels: {awo: agent_workflow_plan_build_test, "awo:test": test-pipeline}
  assignment: agent_workflow_plan_build_test    # to our account
  commands: {run: agent_workflow_plan_build_test, review: pr-review, test: test-pipeline}
  push: [{branches: [main], workflow: test-pipeline}]
  check_failure: [{branches: [main], checks: ["ci*"], workflow: test-pipeline}]
  pull_request: [{on: [opened, synchronize], branches: [main], workflow: pr-review}]
```

A section that is given replaces the same section of the server's file, and that the built-in one;
`false` (or an empty list) turns it off. Reading is strict: whatever is not understood refuses the
whole file, with its line. Pure: text in, rules out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from agent_work_orders.errors import Refused
from agent_work_orders.work_orders.incoming.event_types import PULL_ACTIONS
from agent_work_orders.workflow_engine.fields import Fields
from agent_work_orders.workflow_engine.yaml_source import (
    Finding,
    Path,
    Problem,
    Unreadable,
    load,
    locate,
)

FILE = ".awo/config.yaml"
MAX_RULES = 50
BUILD, TEST, REVIEW = "agent_workflow_plan_build_test", "test-pipeline", "pr-review"
STARTING = ("run", "review", "test")
_SECTIONS = ("labels", "assignment", "commands", "push", "check_failure", "pull_request")
_WORKFLOW = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}")


class BranchRule(msgspec.Struct, frozen=True, kw_only=True):
    """`branches` are patterns with `*`; none means the default branch."""

    workflow: str
    branches: tuple[str, ...] = ()
    checks: tuple[str, ...] = ("*",)
    on: tuple[str, ...] = ("opened", "synchronize")
    drafts: bool = False

    def takes(self, branch: str, default_branch: str) -> bool:
        return branch in (default_branch,) if not self.branches else fits(branch, self.branches)


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    labels: dict[str, str] = {}
    assignment: str = ""
    """Empty: assigning to our account starts nothing."""
    commands: dict[str, str] = {}
    """Of each verb that starts something, its workflow. Empty: comments command nothing."""
    push: tuple[BranchRule, ...] = ()
    check_failure: tuple[BranchRule, ...] = ()
    pull_request: tuple[BranchRule, ...] = ()


DEFAULTS = Rules(
    labels={"awo": BUILD},
    assignment=BUILD,
    commands={"run": BUILD, "review": REVIEW, "test": TEST},
)
"""Of a repository and a server that have none of their own."""


class RulesInvalid(Refused):
    """`problems` in the context has each with its line."""


def parse(text: str, file: str = FILE, under: Rules = DEFAULTS) -> Rules:
    """The rules of a file on top of others. RulesInvalid `rules_invalid`."""
    findings: list[Finding] = []
    try:
        document = load(text, file)
        if document is None:
            return under
        top = Fields(document, (), findings, ("version", "github"))
        top.integer("version", 1, 1, 1)
        rules = _read(top.mapping("github"), findings, under)
        problems = locate(text, file, findings) if findings else []
    except Unreadable as error:
        problems = error.problems
    if problems:
        raise _invalid(file, problems)
    return rules


def fits(name: str, patterns: Sequence[str]) -> bool:
    """Whether a name fits one of the patterns; `*` stands for any characters."""
    return any(
        re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name) for pattern in patterns
    )


def _read(section: Any, findings: list[Finding], under: Rules) -> Rules:
    at: Path = ("github",)
    fields = Fields(section, at, findings, _SECTIONS)
    changes: dict[str, Any] = {}
    for name in _SECTIONS:
        if not fields.has(name):
            continue
        value = fields.data[name]
        if name == "labels":
            changes[name] = _named(value, (*at, name), findings, None)
        elif name == "commands":
            changes[name] = _commands(value, (*at, name), findings, under)
        elif name == "assignment":
            changes[name] = "" if value is False else _workflow(value, (*at, name), findings)
        else:
            changes[name] = _branch_rules(name, value, (*at, name), findings)
    return msgspec.structs.replace(under, **changes)


def _commands(value: Any, at: Path, findings: list[Finding], under: Rules) -> dict[str, str]:
    if value is True:
        return under.commands or DEFAULTS.commands
    given = _named(value, at, findings, STARTING)
    return {**(under.commands or DEFAULTS.commands), **given} if given else {}


def _named(
    value: Any, at: Path, findings: list[Finding], allowed: Sequence[str] | None
) -> dict[str, str]:
    """A mapping of names to workflows; `false` is an empty one."""
    if value is False:
        return {}
    fields = Fields(value, at, findings, allowed if allowed is not None else _keys(value))
    if len(fields.data) > MAX_RULES:
        fields.problem((), f"More than {MAX_RULES} entries")
    if any(len(name) > 100 for name in fields.data):
        fields.problem((), "A name is longer than 100 characters")
    return {
        name: _workflow(one, (*at, name), findings)
        for name, one in fields.data.items()
        if allowed is None or name in allowed
    }


def _keys(value: Any) -> Sequence[str]:
    return list(value) if isinstance(value, dict) else ()


def _branch_rules(
    name: str, value: Any, at: Path, findings: list[Finding]
) -> tuple[BranchRule, ...]:
    if value is False or value is None:
        return ()
    rows = value if isinstance(value, list) else [value]
    if len(rows) > MAX_RULES:
        findings.append(Finding(at, f"More than {MAX_RULES} entries"))
        return ()
    listed = isinstance(value, list)
    return tuple(
        _branch_rule(name, row, (*at, number) if listed else at, findings)
        for number, row in enumerate(rows)
    )


def _branch_rule(name: str, row: Any, at: Path, findings: list[Finding]) -> BranchRule:
    extra = {"check_failure": ("checks",), "pull_request": ("on", "drafts")}.get(name, ())
    fields = Fields(row, at, findings, ("workflow", "branches", *extra))
    if not fields.has("workflow"):
        fields.problem((), "`workflow` is missing", "Name the workflow that is to start.")
    on = fields.names("on") or BranchRule(workflow="").on
    for number, action in enumerate(on):
        if action not in PULL_ACTIONS:
            known = ", ".join(PULL_ACTIONS)
            fields.problem(("on", number), f"Unknown action `{action}`", f"Known: {known}.")
    return BranchRule(
        workflow=_workflow(fields.data.get("workflow", "x"), (*at, "workflow"), findings),
        branches=_patterns(fields, "branches"),
        checks=_patterns(fields, "checks") or ("*",),
        on=on,
        drafts=fields.flag("drafts"),
    )


def _patterns(fields: Fields, key: str) -> tuple[str, ...]:
    found = fields.names(key)
    for number, pattern in enumerate(found):
        # A pattern is tried on names of strangers: few stars keep it fast.
        if not pattern or len(pattern) > 255 or pattern.count("*") > 3:
            fields.problem((key, number), "A pattern has 1 to 255 characters and at most 3 `*`")
    return found[:MAX_RULES]


def _workflow(value: Any, at: Path, findings: list[Finding]) -> str:
    if isinstance(value, str) and _WORKFLOW.fullmatch(value):
        return value
    findings.append(Finding(at, "Expected the name of a workflow", "`awo workflow list`."))
    return ""


def _invalid(file: str, problems: list[Problem]) -> RulesInvalid:
    return RulesInvalid(
        "rules_invalid",
        f"{problems[0]}" + (f" and {len(problems) - 1} more" if len(problems) > 1 else ""),
        hint=f"Correct {file}; of a repository the one on the default branch counts.",
        problems=[msgspec.to_builtins(one) for one in problems],
    )
