"""What an order keeps can be had: patches that apply, output, artifacts, the work as files."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

LATIN_1 = "caf\xe9\n".encode("latin-1")
WORDS = """\
name: words
tasks:
  say:
    uses: sandbox.exec
    with: {argv: [sh, -c, 'echo said; echo cried >&2']}
"""


def patch_of(awo: Any, order_id: str) -> bytes:
    """As a pipe gets it: the bytes."""
    file = awo.folder / "order.patch"
    with file.open("wb") as out:
        assert awo.start("diff", order_id, out=out).wait(60) == 0
    return bytes(file.read_bytes())


def applied(awo: Any, patch: bytes) -> Path:
    clone: Path = awo.folder / "clone"
    awo.git(awo.folder, "clone", "-q", str(awo.folder / "repo"), str(clone))
    subprocess.run(["git", "-C", clone, "apply"], input=patch, check=True)
    return clone


def test_a_patch_applies_whatever_the_files_hold(awo: Any) -> None:
    repository = awo.repository()
    (repository / "dos.txt").write_bytes(b"one\r\ntwo\r\n")
    (repository / "latin.txt").write_bytes(LATIN_1)
    (repository / "image.bin").write_bytes(bytes(range(256)))
    awo.git(repository, "add", ".")
    awo.git(repository, "commit", "-q", "-m", "Odd files")
    agent = awo.agent(
        r"printf 'one\r\n2\r\n' > dos.txt; printf 'th\351\n' >> latin.txt; "
        r"printf '\000\001\377' > image.bin; printf '\377\000' > new.bin; rm calc.py"
    )
    request = ("run", "--repo", "repo", "--workflow", "agent_workflow_build")
    done = awo(*request, "--agent-command", agent, "--json", "Go")
    assert done.code == 0, done.err
    clone = applied(awo, patch_of(awo, done.json["agent_work_order"]["agent_work_order_id"]))
    assert (clone / "dos.txt").read_bytes() == b"one\r\n2\r\n"
    assert (clone / "latin.txt").read_bytes() == LATIN_1 + b"th\xe9\n"
    assert (clone / "image.bin").read_bytes() == b"\0\1\377"
    assert (clone / "new.bin").read_bytes() == b"\377\0"
    assert not (clone / "calc.py").exists()


def test_what_an_agent_had_made_when_its_time_was_up_is_not_lost(awo: Any) -> None:
    repository = awo.repository()
    awo.git(repository, "tag", "v1")
    awo.folder.chmod(0o777)
    flag, prompts = awo.folder / "quick", awo.folder / "prompts"
    agent = awo.agent(
        f"cat $1 >> {prompts}; echo ---- >> {prompts}; [ -e {flag} ] || "
        "{ echo half >> calc.py; sleep 600; }; echo whole >> calc.py; echo answered"
    )
    request = ("run", "--repo", "repo", "--workflow", "agent_workflow_build", "--timeout", "1")
    failed = awo(*request, "--agent-command", f"{agent} {{prompt_file}}", "--json", "Go")
    assert failed.code == 1
    order = failed.json["agent_work_order"]
    order_id, branch = order["agent_work_order_id"], order["git_branch_name"]
    assert order["error_code"] == "agent_timeout"

    shown = awo.inside("diff", order_id)
    assert "+half" in shown.out and "build" in shown.err
    assert awo.inside("diff", order_id, "--json").json["unfinished_task"] == "build"
    assert (applied(awo, patch_of(awo, order_id)) / "calc.py").read_text().endswith("half\n")

    told = awo.inside("checkout", order_id, "mine", "--json").json
    mine = awo.folder / "mine"
    assert (told["folder"], told["branch"], told["unfinished_task"]) == (str(mine), branch, "build")
    assert (mine / "calc.py").read_text().endswith("half\n")
    assert awo.git(mine, "status", "--porcelain", "--branch") == f"## {branch}\n"
    assert awo.git(mine, "rev-parse", "HEAD").strip() == told["commit"]
    assert awo.git(mine, "diff", "--name-only", "origin/main...HEAD") == "calc.py\n"
    assert awo.git(mine, "tag") == "v1\n"
    assert awo.git(mine, "remote", "get-url", "origin").strip() == str(repository)
    again = awo.inside("checkout", order_id, "mine")
    assert again.code == 2 and "not empty" in again.err

    flag.touch()
    retried = awo("retry", order_id, "-m", "Mind the tabs", "--timeout", "77", "--json")
    assert retried.code == 0, retried.err
    # Told with the task and not after it: one turn.
    _, second, rest = prompts.read_text().split("----\n")
    assert "Mind the tabs" in second and rest == ""
    assert awo.inside("diff", order_id).err == ""
    said = awo.inside("output", order_id, "build")
    assert said.code == 0 and "answered" in said.out
    audited = awo.inside("audit", "list", "--order", order_id, "--json").json["entries"]
    assert audited[-1]["details"]["agent_timeout_s"] == 77


def test_what_a_task_printed_and_kept(awo: Any) -> None:
    awo.repository()
    (awo.folder / "words.yaml").write_text(WORDS)
    request = ("run", "--repo", "repo", "--workflow", "words.yaml", "--agent-command", "true")
    order_id = awo(*request, "--json").json["agent_work_order"]["agent_work_order_id"]
    shown = awo.inside("output", order_id, "say")
    assert shown.out == "stdout\nsaid\nstderr\ncried\n"
    whole = awo.inside("output", order_id, "say", "--json").json
    assert whole["outputs"]["exit_code"] == 0 and whole["state"] == "succeeded"
    unknown = awo.inside("output", order_id, "nobody")
    assert unknown.code == 2 and "It has say" in unknown.err
    assert awo.inside("artifacts", order_id).out == "It has kept none.\n"
    nothing = awo.inside("checkout", order_id)
    assert nothing.code == 2 and "nothing" in nothing.err


def test_an_artifact_is_fetched_by_name_or_hash(awo: Any) -> None:
    repository = awo.repository()
    (repository / "test_calc.py").write_text(
        "import unittest\n\nclass T(unittest.TestCase):\n    def test_it(self): pass\n"
    )
    awo.git(repository, "add", ".")
    awo.git(repository, "commit", "-q", "-m", "Tests")
    (awo.folder / "tests.yaml").write_text(
        "name: tests\ntasks:\n  check: {uses: tests.run, with: {}}\n"
    )
    request = ("run", "--repo", "repo", "--workflow", "tests.yaml", "--agent-command", "true")
    done = awo(*request, "--json")
    assert done.code == 0, done.err
    order_id = done.json["agent_work_order"]["agent_work_order_id"]
    listed = awo.inside("artifacts", order_id, "--json").json["artifacts"]
    one = listed[-1]
    assert one["name"] in awo.inside("artifacts", order_id).out
    by_name = awo.inside("artifacts", order_id, one["name"])
    assert by_name.code == 0 and len(by_name.out.encode()) == one["size_bytes"]
    file = awo.folder / "kept.out"
    assert awo.inside("artifacts", order_id, one["sha256"][:8], "--to", str(file)).code == 0
    assert file.stat().st_size == one["size_bytes"]
    over = awo.inside("artifacts", order_id, one["sha256"], "--to", str(file))
    assert over.code == 2 and "cannot be written" in over.err
    assert awo.inside("artifacts", order_id, "absent").code == 2


def test_a_message_that_says_nothing_is_refused(awo: Any) -> None:
    for text in ("", "  "):
        refused = awo.inside("retry", "wo-aaaa", "-m", text)
        assert refused.code == 2 and "--message" in refused.err and refused.out == ""


FAN = """\
name: fan
tasks:
  names: {uses: sandbox.exec, with: {argv: [echo, '{"a": 1}']}}
  none: {needs: [names], foreach: "{{ tasks.names.outputs.stdout | fromjson }}", uses: tests.run}
  each:
    foreach: [one, two]
    uses: sandbox.exec
    with: {argv: [echo, "{{ item }}"]}
"""


def test_a_fan_out_that_failed_is_seen_and_one_that_worked_says_where_to_look(awo: Any) -> None:
    awo.repository()
    (awo.folder / "fan.yaml").write_text(FAN)
    done = awo.inside("run", "--repo", "repo", "--workflow", "fan.yaml", "--agent-command", "true")
    assert done.code == 1
    [order] = awo.inside("list", "--json").json["agent_work_orders"]
    order_id = order["agent_work_order_id"]
    for shown in (done.out, awo.inside("show", order_id).out):
        assert "none" in shown and "and got an object" in shown
    said = awo.inside("output", order_id, "each")
    assert "`awo output ORDER 'each[1]'`" in said.err
    assert awo.inside("output", order_id, "each[1]").out == "one\n"


def test_an_order_that_rests_says_how_it_goes_on(awo: Any) -> None:
    awo.repository()
    (awo.folder / "gate.yaml").write_text("name: gate\ntasks: {ask: {approval: Go?}}\n")
    request = ("run", "--repo", "repo", "--workflow", "gate.yaml", "--agent-command", "true")
    done = awo.inside(*request, "--json")
    order_id = done.json["agent_work_order"]["agent_work_order_id"]
    assert "`awo resume ORDER`" in awo.inside("show", order_id).out
