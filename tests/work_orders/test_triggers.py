"""Decisions alone: what an event asks for, before anybody is believed."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from intake_bench import NOW, NOW_MS, base, labeled, person

from agent_work_orders.work_orders.incoming import github_event, rules
from agent_work_orders.work_orders.incoming.triggers import Decision, Ignore, Start, decide

EVERYWHERE = rules.parse(
    "github: {push: [{branches: ['*'], workflow: x}],"
    " check_failure: [{branches: ['*'], workflow: x}]}"
)
OURS = "feat-issue-7-wo-" + "a" * 16


def decided(name: str, payload: Any, given: rules.Rules = EVERYWHERE) -> Decision:
    event = github_event.read(name, msgspec.json.encode(payload))
    return decide(event, given, "awo[bot]", NOW_MS)


def check(**more: Any) -> Any:
    found = {
        "id": 5, "name": "ci", "head_sha": "b" * 40, "conclusion": "failure",
        "check_suite": {"head_branch": "topic"}, "app": {"slug": "actions"}, "updated_at": NOW,
        **more,
    }  # fmt: skip
    return {**base("ann", "completed"), "check_run": found}


def push(ref: str, **more: Any) -> Any:
    return {**base("ann", ""), "ref": ref, "after": "b" * 40, "deleted": False, **more}


@pytest.mark.fault("C11")
def test_what_orders_do_starts_no_orders() -> None:
    """A rule for every branch would else never end."""
    assert isinstance(decided("check_run", check()), Start)
    assert isinstance(decided("check_run", check(check_suite={"head_branch": OURS})), Ignore)
    assert isinstance(decided("check_run", check(app={"slug": "awo"})), Ignore)
    assert isinstance(decided("push", push("refs/heads/topic")), Start)
    assert isinstance(decided("push", push(f"refs/heads/{OURS}")), Ignore)


def test_a_failed_check_is_of_who_caused_it_unless_a_bot_reports_it() -> None:
    by_ann = decided("check_run", check())
    by_bot = decided("check_run", {**check(), "sender": person("actions[bot]", "Bot")})
    assert isinstance(by_ann, Start) and isinstance(by_bot, Start)
    assert by_ann.by is not None and by_ann.by.login == "ann"
    assert by_bot.by is None and by_bot.caused_by.login == "actions[bot]"


def test_what_failed_is_a_commit_whichever_of_its_checks_tells() -> None:
    suite = {**base("ann", "completed"), "check_suite": check()["check_run"] | {"id": 6}}
    suite["check_suite"] |= {"head_branch": "topic"}
    found = [
        decided("check_run", check()), decided("check_run", check(id=6, name="lint")),
        decided("check_suite", suite), decided("check_run", check(head_sha="c" * 40)),
    ]  # fmt: skip
    keys = [one.key for one in found if isinstance(one, Start)]
    assert keys[0] == keys[1] == keys[2] != keys[3]


@pytest.mark.fault("J5")
def test_a_check_of_a_fork_has_no_branch_and_starts_nothing() -> None:
    assert isinstance(decided("check_run", check(check_suite={"head_branch": None})), Ignore)


@pytest.mark.parametrize(
    "payload",
    [
        push("refs/tags/v1"), push("refs/heads/x", deleted=True),
        push("refs/heads/x", after="0" * 40),
    ],
)  # fmt: skip
def test_tags_and_removed_branches_are_no_pushes_to_a_branch(payload: Any) -> None:
    assert isinstance(decided("push", payload), Ignore)


def test_labels_are_matched_as_they_are() -> None:
    for label in ("AWO", "awo ", "xawo", "awo:other", ""):
        found = decided("issues", labeled(label=label.strip() if label != "awo " else "awo x"))
        assert isinstance(found, Ignore), label
    assert isinstance(decided("issues", labeled()), Start)


def test_a_person_asks_and_the_key_is_of_the_asking() -> None:
    one, same = decided("issues", labeled()), decided("issues", labeled(body="edited since"))
    later = decided("issues", labeled(updated_at="2027-01-15T08:00:01Z"))
    assert isinstance(one, Start) and isinstance(same, Start) and isinstance(later, Start)
    assert one.by is not None and one.by.mark == "7:ann"
    assert one.key == same.key != later.key
