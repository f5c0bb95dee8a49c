"""Subjects and trailers, whatever people and agents write."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_work_orders.tools import commit_message
from agent_work_orders.tools.tool import Order

ORDER = Order(
    order_id="wo-aaaaaaaaaaaaaaaa",
    repository_url="/x",
    repository="x-1",
    base_branch=None,
    branch="b",
    sandbox_type="git_worktree",
    agent={},
    workflow="flow",
)


def write(subject: str, **more: str | None) -> str:
    given = {"path": "build", "phase": "implementing", "key": "k", **more}
    return commit_message.write(ORDER, subject=subject, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("phase", "begins"),
    [
        ("planning", "docs: x"),
        ("implementing", "feat: x"),
        ("testing", "test: x"),
        (None, "feat: x"),
    ],
)
def test_the_phase_gives_the_type(phase: str | None, begins: str) -> None:
    assert write("x", phase=phase).startswith(begins)
    assert ("Awo-Phase:" in write("x", phase=phase)) is (phase is not None)


def test_an_issue_is_named_in_the_form_of_the_house() -> None:
    order = msgspec.structs.replace(ORDER, github_issue_number="42", title="Mend it")
    assert commit_message.title(order) == "feat: #42 - Mend it"
    assert commit_message.title(order, "Said by the agent") == "feat: #42 - Said by the agent"


@pytest.mark.fault("F2")
@given(st.text(max_size=300))
def test_no_text_reaches_beyond_the_subject(text: str) -> None:
    message = write(text)
    subject, empty, *trailers = message.removesuffix("\n").split("\n")
    assert len(subject) <= 72 and subject.isprintable()
    assert empty == ""
    assert trailers == [
        "Awo-Order: wo-aaaaaaaaaaaaaaaa", "Awo-Task: build", "Awo-Phase: implementing",
        "Awo-Key: k",
    ]  # fmt: skip
    message.encode()


@pytest.mark.fault("J3")
@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("thank @ann and @acme/team", "thank @ ann and @ acme/team"),
        ("Fixes #12, closes: acme/site#3", "Fixes # 12, closes: acme/site# 3"),
        ("resolved GH-4", "resolved GH- 4"),
        ("fix https://github.com/a/b/issues/1", "fix https: //github.com/a/b/issues/1"),
        (
            "see HTTP://evil.example/?k=v www.evil.example",
            "see HTTP: //evil.example/?k=v www .evil.example",
        ),
        ("like #12 does, a@b.example", "like #12 does, a@b.example"),
    ],
)
def test_a_message_acts_on_nothing(said: str, written: str) -> None:
    assert write(said).startswith(f"feat: {written}\n")
    assert commit_message.title(ORDER, said) == f"feat: {written}"


def test_without_words_the_workflow_is_named() -> None:
    assert write("").startswith("feat: flow\n")
    assert commit_message.one_line("\x1b\x00\n\u202e\n") == "work order"
