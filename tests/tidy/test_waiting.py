"""What an order may wait for: the list, its meanings, the docs and the dashboard agree."""

from __future__ import annotations

import ast
import re
from typing import get_args

import source_scan

from agent_work_orders.errors import HeldReason
from agent_work_orders.workflow_engine import waiting

ROOT = source_scan.ROOT
REASONS = set(waiting.reasons())


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_every_reason_has_its_meaning() -> None:
    assert set(waiting.MEANINGS) == REASONS
    assert set(get_args(HeldReason)) < REASONS


def test_the_docs_have_every_reason() -> None:
    section = read("docs/reference/status.md").split("## What it waits for")[1].split("## ")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)) == REASONS


def test_the_dashboard_has_words_for_every_reason() -> None:
    explained = read("web/src/lib/explain.ts").split("const BY_REASON")[1].split("satisfies")[0]
    assert set(re.findall(r"^  (\w+): \{", explained, re.MULTILINE)) == REASONS
    assert set(re.findall(r'"(\w+)"', read("web/src/lib/waiting-reason.ts"))) == REASONS


def test_what_is_recorded_as_a_reason_is_one() -> None:
    """Literals that stand where a reason is told, wherever the type checker does not look."""
    told = {
        keyword.value.value
        for module in source_scan.modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg == "waiting_reason" and isinstance(keyword.value, ast.Constant)
    }
    assert told - REASONS - {None} == set()
