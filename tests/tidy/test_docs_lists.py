"""Lists in the docs are complete: the form of the scripted agent's file."""

from __future__ import annotations

import re
from typing import get_args

import source_scan

from agent_work_orders.agent_executor import script
from agent_work_orders.agent_executor.agent import ErrorKind

DOCS = source_scan.ROOT / "docs"
_CODE = re.compile(r"`([a-z_]+)(?:\([a-z, ]*\))?`")


def test_the_form_of_the_scripted_agents_file_is_described() -> None:
    page = (DOCS / "scripted-agent.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    named = {row.split("`")[1]: set(_CODE.findall(row.rsplit(" | ", 1)[1])) for row in rows}
    steps = {name: set(kind.__struct_fields__) for name, kind in script._KINDS.items()}
    assert {name: keys for name, keys in named.items() if name in steps} == steps
    assert set(named) - set(steps) == {"version", "default", "commands"}
    kinds = re.search(r"`kind` is one of (.*?);", page, re.DOTALL)
    assert kinds is not None
    assert _CODE.findall(kinds[1]) == list(get_args(ErrorKind))


def test_the_example_of_a_script_is_one() -> None:
    page = (DOCS / "scripted-agent.md").read_text("utf-8")
    example = re.search(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert example is not None
    read = script.parse(example[1])
    assert read.steps(None, 1) is not None
    assert len(read.steps("build", 2) or ()) == 3
