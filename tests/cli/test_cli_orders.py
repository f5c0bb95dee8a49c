"""Orders through the real command, without a server: durable, resumable, and never by accident."""

from __future__ import annotations

import signal
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

from agent_work_orders.cli import following

EDIT = "echo x >> calc.py; printf 'said \\033[31mred\\033[0m\\n'"
GATE = """\
name: gate
tasks:
  build: {uses: agent.prompt, with: {prompt: Go}}
  publish:
    needs: [build]
    approval: {message: Publish it?}
    uses: forge.open_pull_request
"""


def run(awo: Any, script: str, *more: str) -> Any:
    agent = awo.agent(script)
    return awo(
        "run", "--repo", "repo", "--agent-command", f"{agent} {{prompt_file}}", *more, "Do it"
    )


def test_an_order_runs_here_and_is_kept(awo: Any) -> None:
    repository = awo.repository()
    done = run(awo, EDIT, "--workflow", "agent_workflow_build", "--issue", "7")
    assert done.code == 0, done.out + done.err
    assert done.err == ""
    assert "\x1b" not in done.out
    [order] = awo.inside("list", "--json").json["agent_work_orders"]
    order_id, branch = order["agent_work_order_id"], order["git_branch_name"]
    assert order["status"] == "completed"
    assert branch == f"feat-issue-7-{order_id}"
    assert order_id in done.out
    assert awo.git(repository, "log", "--format=%s", f"main..{branch}").count("build") == 1

    prefix = order_id[3:9]
    shown = awo.inside("show", prefix, "--json").json
    assert shown["agent_work_order"]["git_commit_count"] == 1
    assert [task["state"] for task in shown["tasks"]] == ["succeeded", "succeeded"]
    assert "+x" in awo.inside("diff", prefix).out
    assert awo.inside("diff", prefix, "--json").json["truncated"] is False
    events = [entry["event"] for entry in awo.inside("logs", prefix, "--json").json["log_entries"]]
    assert events[0] == "agent_work_order_created"
    assert "agent_work_order_completed" in events
    followed = awo.inside("logs", prefix, "-f").out
    assert "agent_work_order_completed" in followed
    said = awo.inside("logs", prefix, "--transcript").out
    assert "said red" in said
    assert "\x1b" not in said
    assert awo.inside("transcript", prefix).out == said
    found = awo.inside("transcript", prefix, "--search", "SAID", "--json").json
    assert [(one["task"], one["kind"]) for one in found["matches"]] == [("build", "text")]
    shown = awo.inside("transcript", prefix, "--search", "SAID").out
    assert shown.startswith("text") and "build  said red" in shown
    assert "\x1b" not in shown
    assert "Nothing found" in awo.inside("transcript", prefix, "--search", "absent").out
    assert awo.inside("transcript", prefix, "--search", "").code == 2
    assert awo.inside("transcript", prefix, "--task", "absent").code == 2
    assert awo.inside("cancel", prefix).code == 2
    assert awo.inside("doctor", "--rebuild", "--json").json["healthy"] is True
    [again] = awo.inside("list", "--json").json["agent_work_orders"]
    assert again == order


def test_an_approval_is_decided_by_what_was_shown(awo: Any) -> None:
    repository = awo.repository()
    (awo.folder / "gate.yaml").write_text(GATE)
    done = run(awo, EDIT, "--workflow", "gate.yaml", "--json")
    assert done.code == 3, done.err
    assert done.json["agent_work_order"]["waiting_reason"] == "approval"
    [question] = done.json["approvals"]
    order_id = question["agent_work_order_id"]
    assert question in awo.inside("approve", "--json").json["approvals"]
    assert awo.inside("approve", order_id, "--hash", "0" * 64).code == 2
    branch = done.json["agent_work_order"]["git_branch_name"]
    assert branch not in awo.git(repository, "branch", "--list")
    approved = awo("approve", order_id, "--comment", "Fine")
    assert approved.code == 0, approved.err
    assert question["subject_hash"] in approved.out
    assert branch in awo.git(repository, "branch", "--list")
    said = awo.inside("audit", "list", "--order", order_id[:12], "--json").json["entries"]
    assert [(one["who"], one["what"]) for one in said] == [
        ("local", "order.create"), ("local", "approval.approve"),
    ]  # fmt: skip
    assert said[0]["agent_work_order_id"] == order_id and said[0]["at"] < said[1]["at"]
    assert "order.create" in awo.inside("audit", "list").out
    assert awo.inside("audit", "verify").code == 0
    with sqlite3.connect(awo.home / "journal.db") as connection:
        connection.execute("DROP TRIGGER audit_stays")
        connection.execute("UPDATE audit SET who = 'eve' WHERE n = 2")
    connection.close()
    broken = awo.inside("audit", "verify", "--json")
    assert broken.code == 1 and broken.json["break"]["n"] == 2
    assert "row 2: row 2 was changed" in awo.inside("audit", "verify").out


def test_a_rejection_ends_the_order_and_is_no_failure_of_the_command(awo: Any) -> None:
    awo.repository()
    (awo.folder / "gate.yaml").write_text(GATE)
    order_id = run(awo, EDIT, "--workflow", "gate.yaml", "--json").json["agent_work_order"][
        "agent_work_order_id"
    ]
    assert awo.inside("reject", order_id, "-m", "Not now").code == 0
    shown = awo.inside("show", order_id, "--json").json["agent_work_order"]
    assert (shown["status"], shown["error_code"]) == ("failed", "approval_rejected")


@pytest.mark.fault("A20")
def test_interrupted_it_is_left_for_the_next_start(awo: Any) -> None:
    repository = awo.repository()
    go = awo.folder / "go"
    agent = awo.agent(f"touch {awo.folder}/began; while [ ! -e {go} ]; do sleep 0.1; done; {EDIT}")
    awo.folder.chmod(0o777)
    process = awo.start(
        "run", "--repo", "repo", "--workflow", "agent_workflow_build", "--agent-command", agent, "x"
    )
    wait_for(awo.folder / "began")
    # Looking beside a working process starts nothing and does not disturb it.
    [order] = awo.inside("list", "--json", "--status", "running").json["agent_work_orders"]
    order_id = order["agent_work_order_id"]
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert f"awo resume {order_id[:11]}" in err
    assert awo.left_behind() == []
    go.touch()
    resumed = awo("resume", order_id)
    assert resumed.code == 0, resumed.out + resumed.err
    assert awo.git(repository, "rev-list", "--count", f"main..{order['git_branch_name']}") == "1\n"


def test_a_failed_order_is_retried_and_a_left_one_cancelled(awo: Any) -> None:
    awo.repository()
    flag = awo.folder / "works"
    failed = run(
        awo, f"[ -e {flag} ] || exit 3; {EDIT}", "--workflow", "agent_workflow_build", "--json"
    )
    assert failed.code == 1
    order_id = failed.json["agent_work_order"]["agent_work_order_id"]
    assert awo.inside("override", order_id, "build", "explode").code == 2
    assert awo.inside("retry", order_id, "--from", "nowhere").code == 2
    flag.touch()
    assert awo.inside("retry", order_id).code == 0
    assert awo.inside("rollback", order_id).code == 0
    assert awo.inside("backup", str(awo.folder / "copy.db"), "--json").json["size_bytes"] > 0
    assert awo.inside("backup", str(awo.folder / "copy.db")).code == 2
    taken = awo.inside("restore", "copy.db", "--json")
    assert taken.code == 2 and "not empty" in taken.err
    told = awo.inside("restore", "copy.db", "--to", "elsewhere", "--json")
    assert told.code == 0 and told.json["goes_on"] == [] and told.json["missing"] == []
    there = awo.inside("show", order_id, "--json", AWO_HOME=str(awo.folder / "elsewhere"))
    assert there.json["agent_work_order"]["agent_work_order_id"] == order_id
    key = awo.inside("key", "create", "bob", "--role", "viewer", "--json").json
    assert key["token"].startswith(key["key"]["key_id"])
    assert awo.inside("key", "revoke", key["key"]["key_id"]).code == 0
    [listed] = awo.inside("key", "list", "--json").json["keys"]
    assert listed["revoked_at"] is not None


def test_a_failed_order_tells_where_its_commits_are(awo: Any) -> None:
    repository = awo.repository()
    (awo.folder / "flow.yaml").write_text(
        "name: flow\ntasks:\n  build: {uses: agent.prompt, with: {prompt: Go}}\n"
        "  check: {needs: [build], uses: sandbox.exec, with: {argv: ['false']}}\n"
    )
    done = run(awo, EDIT, "--workflow", "flow.yaml")
    assert done.code == 1, done.out
    [order] = awo.inside("list", "--json").json["agent_work_orders"]
    [line] = [line for line in done.out.splitlines() if line.strip().startswith("commits")]
    assert "not in the repository" in line
    assert order["git_branch_name"] not in line
    assert order["git_branch_name"] not in awo.git(repository, "branch", "--list")
    shown = line[line.index("awo diff") :].split()[2]
    assert "+x" in awo.inside("diff", shown).out


@pytest.mark.parametrize(
    ("summary", "told"),
    [
        ("FAIL: test_x (m.T.test_x)", "tests FAILED: test_x (m.T.test_x)"),
        ("FAILED tests/a.py::test_x", "tests FAILED: tests/a.py::test_x"),
        ("--- FAIL: TestX (0.00s)", "tests FAILED: TestX (0.00s)"),
        ("FAIL", "tests FAILED: FAIL"),
        ("ERROR: broken", "tests FAILED: ERROR: broken"),
    ],
)
def test_failed_tests_are_told_once(summary: str, told: str) -> None:
    assert following.tests_of({"found": True, "passed": False, "summary": summary}) == told


def test_a_run_without_a_failed_test_that_did_not_pass_counts_no_failures() -> None:
    """As of a test that is missing, or a command that ended badly after its tests."""
    outputs = {"found": True, "passed": False, "total": 2, "failed": 0, "skipped": 0}
    told = following.tests_of({**outputs, "summary": "The command ended with 3"})
    assert told == "tests FAILED: The command ended with 3"
    counted = following.tests_of({**outputs, "failed": 1, "summary": "FAILED a.py::test_x"})
    assert counted == "tests FAILED (1 of 2): a.py::test_x"


def test_inputs_are_read_by_their_type(awo: Any) -> None:
    awo.repository()
    (awo.folder / "flow.yaml").write_text(
        "name: flow\ninputs:\n  words: {type: list, items: string}\n  many: {type: integer}\n"
        "tasks:\n  a:\n    uses: sandbox.exec\n    with: {argv: '{{ inputs.words }}'}\n"
    )
    inputs = ("--input", "words=echo,hi", "--input", "many=3")
    done = run(awo, EDIT, "--workflow", "flow.yaml", *inputs, "--json")
    assert done.code == 0, done.err
    assert done.json["tasks"][0]["outputs"]["stdout"].strip() == "hi"


def wait_for(path: Path) -> None:
    while not path.exists():
        time.sleep(0.05)


@pytest.mark.fault("N10")
def test_an_answer_to_what_the_branch_was_before_is_refused(awo: Any) -> None:
    awo.repository()
    (awo.folder / "gate.yaml").write_text(GATE)
    [question] = run(awo, EDIT, "--workflow", "gate.yaml", "--json").json["approvals"]
    order_id, old_hash = question["agent_work_order_id"], question["subject_hash"]
    [mirror] = (awo.home / "mirrors").glob("*.git")
    head = f"refs/awo/orders/{order_id}/head"
    assert awo.git(mirror, "rev-parse", head).strip() == question["head_sha"]
    awo.git(mirror, "update-ref", head, f"{head}~1")
    refused = awo.inside("approve", order_id, "--hash", old_hash)
    assert refused.code == 2 and "branch has moved" in refused.err
    assert awo.inside("approve", question["approval_id"]).code == 2
    [again] = awo.inside("approve", "--json").json["approvals"]
    assert again["approval_id"] != question["approval_id"]
    assert again["head_sha"] == awo.git(mirror, "rev-parse", head).strip()
    shown = awo.inside("show", order_id, "--json").json
    assert shown["agent_work_order"]["waiting_reason"] == "approval"
