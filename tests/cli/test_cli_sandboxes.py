"""`awo sandbox`: look, enter and remove, with a server and without one."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agent_work_orders.state_manager import lock

ENTRY = "from agent_work_orders.cli.main import main; main()"

EDITED = """\
name: edited
tasks:
  edit:
    uses: sandbox.exec
    with: {argv: [sh, -c, "echo '# edited' >> calc.py; echo made > new.txt"]}
  ask:
    needs: [edit]
    approval: {message: Go on?}
    uses: agent.prompt
    with: {prompt: Go}
"""
MUCH = 40_000_000
"""Several times what a server keeps for a slow reader."""
HOSTILE = r"printf '\033]0;owned\007\033[2J\342\200\256x\n'; printf '\033[8mhidden\n' >&2"


def ordered(awo: Any, *more: str) -> str:
    """An order that waits for a person, with edits in its sandbox that nothing committed."""
    awo.repository()
    (awo.folder / "edited.yaml").write_text(EDITED)
    request = ("run", "--repo", "repo", "--workflow", "edited.yaml", "--agent-command", "true")
    done = awo(*request, *more, "--json")
    assert done.code == 3, done.err
    return str(done.json["agent_work_order"]["agent_work_order_id"])


@contextlib.contextmanager
def serving(awo: Any) -> Iterator[None]:
    process = awo.start("up", "--port", "0", "--no-open")
    try:
        _until(lambda: _announced(awo))
        yield
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


def _announced(awo: Any) -> bool:
    owner = lock.read_owner(awo.home)
    return owner is not None and bool(owner.url)


def test_list_show_and_complete(awo: Any) -> None:
    assert awo.inside("sandbox", "list").out.startswith("There is none now")
    order_id = ordered(awo)
    sandbox_id = f"git_worktree-{order_id}"
    listed = awo.inside("sandbox", "list")
    assert sandbox_id in listed.out and "active" in listed.out
    [one] = awo.inside("sandbox", "list", "--json").json["sandboxes"]
    assert (one["id"], one["status"]) == (sandbox_id, "ACTIVE")
    for wanted in (sandbox_id, order_id, order_id[:8]):
        shown = awo.inside("sandbox", "show", wanted)
        assert shown.code == 0 and sandbox_id in shown.out and "MiB" in shown.out
    assert awo.inside("sandbox", "list", "--order", order_id[:8], "--json").json["total_count"] == 1
    completed = awo(
        _AWO_COMPLETE="complete_bash", COMP_WORDS="awo sandbox destroy git_", COMP_CWORD="3"
    )
    assert completed.out.split() == [sandbox_id]


@pytest.mark.parametrize("sandbox_type", ["git_worktree", "git_branch"])
def test_what_is_removed_is_kept(awo: Any, sandbox_type: str) -> None:
    order_id = ordered(awo, "--sandbox", sandbox_type)
    done = awo.inside("sandbox", "destroy", order_id)
    assert done.code == 0, done.err
    assert "terminated successfully" in done.out and "awo checkout" in done.out
    assert not (awo.home / "workspaces" / order_id).exists()
    assert awo.inside("sandbox", "list", "--json").json["sandboxes"] == []
    assert awo.inside("sandbox", "list", "--all", "--json").json["total_count"] == 1
    assert awo.inside("checkout", order_id, "mine").code == 0
    assert (awo.folder / "mine/new.txt").read_text() == "made\n"
    assert (awo.folder / "mine/calc.py").read_text().endswith("# edited\n")
    again = awo.inside("sandbox", "destroy", f"{sandbox_type}-{order_id}", "--json")
    assert again.code == 0 and again.json["message"] == "Sandbox already terminated"
    assert again.json["kept_sha"] is None
    # It is made anew for a program, of what was kept.
    inside = awo.inside("sandbox", "exec", order_id, "--", "cat", "new.txt")
    assert (inside.code, inside.out) == (0, "made\n") and "has no sandbox now" in inside.err


@pytest.mark.parametrize("by", ["itself", "server"])
def test_programs_run_inside(awo: Any, by: str) -> None:
    order_id = ordered(awo)
    with serving(awo) if by == "server" else contextlib.nullcontext():
        done = awo.inside(
            "sandbox", "exec", order_id, "--", "sh", "-c", "cat new.txt; echo e >&2; exit 7"
        )
        assert done == (7, "made\n", "e\n", 0)
        ls = awo.inside("sandbox", "exec", order_id[:8], "--", "ls", "-1")
        assert (ls.code, ls.out) == (0, "calc.py\nnew.txt\n")
        killed = awo.inside("sandbox", "exec", order_id, "--", "sh", "-c", "kill -9 $$")
        assert killed.code == 128 + 9 and "signal 9" in killed.err
        slow = awo.inside("sandbox", "exec", "--timeout", "0.3", order_id, "--", "sleep", "60")
        assert slow.code == 124 and "--timeout" in slow.err
        whole = awo.inside(
            "sandbox", "exec", order_id, "--json", "--", "sh", "-c", "echo o; exit 3"
        )
        assert whole.code == 3
        assert (whole.json["stdout"], whole.json["exit_code"]) == ("o\n", 3)
        much = awo.inside("sandbox", "exec", order_id, "--", "head", "-c", f"{MUCH}", "/dev/zero")
        assert (much.code, len(much.out), much.err) == (0, MUCH, "")
        missing = awo.inside("sandbox", "exec", order_id, "--", "no-such-program")
        assert missing.code == 1 and missing.err.startswith("error: ")
        assert missing.err.count("\n") == 1
        noted = awo.inside("audit", "list", "--order", order_id, "--json").json["entries"]
        assert [one["details"] for one in noted if one["what"] == "sandbox.exec"][1] == {
            "argv": "ls -1"
        }
    assert awo.left_behind() == []


def test_what_a_program_prints_does_not_act_on_a_terminal(awo: Any) -> None:
    order_id = ordered(awo)
    program = ("sandbox", "exec", order_id, "--", "sh", "-c", HOSTILE)
    piped = awo.start(*program, out=subprocess.PIPE)
    out, _ = piped.communicate(timeout=60)
    assert out == "\x1b]0;owned\x07\x1b[2J\u202ex\n"
    ours, theirs = pty.openpty()
    shown = awo.start(*program, out=theirs, err=theirs)
    os.close(theirs)
    seen = b""
    with contextlib.suppress(OSError):  # the other end is closed
        while piece := os.read(ours, 65_536):
            seen += piece
    assert shown.wait(60) == 0
    os.close(ours)
    text = seen.decode()
    assert "\x1b" not in text and "\x07" not in text and "\u202e" not in text
    assert "⟨U+001B⟩]0;owned⟨U+0007⟩" in text and "⟨U+202E⟩x" in text and "hidden" in text
    kept = awo.inside(*program[:3], "--json", *program[3:])
    assert "\x1b" not in kept.out and kept.json["stdout"].startswith("\x1b]0;owned")


def test_an_order_that_ended_is_entered_at_its_last_commit(awo: Any) -> None:
    awo.repository()
    agent = awo.agent("echo '# done' >> calc.py")
    request = ("run", "--repo", "repo", "--workflow", "agent_workflow_build", "--json")
    order_id = awo(*request, "--agent-command", agent, "Go").json["agent_work_order"][
        "agent_work_order_id"
    ]
    assert awo.inside("sandbox", "list", "--json").json["sandboxes"] == []
    done = awo.inside("sandbox", "exec", order_id, "--", "tail", "-n", "1", "calc.py")
    assert (done.code, done.out) == (0, "# done\n") and "has no sandbox now" in done.err
    assert list((awo.home / "workspaces").iterdir()) == []
    assert awo.inside("sandbox", "show", order_id, "--json").json["sandbox"]["disk_bytes"] is None
    assert awo.inside("sandbox", "destroy", order_id).out.startswith("ok")


def test_one_in_use_is_refused_unless_forced(awo: Any) -> None:
    awo.repository()
    began = awo.folder / "began"
    awo.folder.chmod(0o777)
    agent = awo.agent(f"echo '# half' >> calc.py; touch {began}; sleep 600")
    request = ("run", "--repo", "repo", "--workflow", "agent_workflow_build")
    running = awo.start(*request, "--agent-command", agent, "Go")
    try:
        _until(lambda: began.exists() and _announced(awo))
        [one] = awo.inside("sandbox", "list", "--json").json["sandboxes"]
        assert one["in_use"]
        order_id = one["agent_work_order_id"]
        refused = awo.inside("sandbox", "destroy", order_id)
        assert refused.code == 2 and refused.err.startswith("error: Somebody works in")
        told = awo.inside("sandbox", "destroy", order_id, "--json").json["error"]
        assert told["code"] == "sandbox_in_use"
        assert "`awo sandbox destroy ID --force`" in told["hint"]
        entered = awo.inside("sandbox", "exec", order_id, "--", "true")
        assert entered.code == 2 and "Somebody works in" in entered.err
        awo.inside("pause", order_id)
        forced = awo.inside("sandbox", "destroy", order_id, "--force", "--json")
        assert forced.code == 0, forced.err
        assert forced.json["kept_sha"]
    finally:
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)
    assert awo.inside("checkout", order_id, "mine").code == 0
    assert (awo.folder / "mine/calc.py").read_text().endswith("# half\n")


def _until(there: Callable[[], bool]) -> None:
    for _ in range(1200):
        if there():
            return
        time.sleep(0.05)
    raise AssertionError("it does not happen")


class Typed:
    """`awo sandbox shell` with a person at its terminal."""

    def __init__(self, awo: Any, *args: str) -> None:
        self.ours, theirs = pty.openpty()
        self.seen = ""
        self._before = termios.tcgetattr(theirs)
        self.theirs = theirs
        env = {"AWO_HOME": str(awo.home), "TERM": "xterm", "PYTHONPATH": os.pathsep.join(sys.path)}
        self.process = subprocess.Popen(
            [sys.executable, "-c", ENTRY, "sandbox", "shell", *args],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=dict(os.environ) | env,
            cwd=awo.folder,
        )

    def __enter__(self) -> Typed:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def until(self, text: str) -> None:
        while text not in self.seen:
            ready, _, _ = select.select([self.ours], [], [], 60)
            assert ready, self.seen
            self.seen += os.read(self.ours, 65_536).decode("utf-8", "replace")

    def type(self, text: str) -> None:
        os.write(self.ours, text.encode())

    def end(self) -> int:
        code = self.process.wait(60)
        os.set_blocking(self.ours, False)
        with contextlib.suppress(OSError):
            while piece := os.read(self.ours, 65_536):
                self.seen += piece.decode("utf-8", "replace")
        # As it was before: whoever types next sees what they type.
        assert termios.tcgetattr(self.theirs) == self._before
        for fd in (self.ours, self.theirs):
            os.close(fd)
        return code


@pytest.mark.parametrize("by", ["itself", "server"])
def test_a_shell_in_a_paused_order(awo: Any, by: str) -> None:
    order_id = ordered(awo)
    alone = contextlib.nullcontext()
    with serving(awo) if by == "server" else alone, Typed(awo, order_id) as shell:
        shell.until("$ ")
        shell.type("stty -echo; echo be''gun\n")
        shell.until("begun")
        shell.type("cat new.txt; echo >> new.txt; printf '\\033]0;own''ed\\007'\n")
        # Said by the program that is cut off, so that it has the terminal by then.
        shell.type("sh -c 'echo go\"\"ing; exec sleep 600'\n")
        shell.until("going")
        before, shell.seen = shell.seen, ""
        shell.type("\x03")
        shell.until("$ ")
        shell.type("echo al''ive\n")
        shell.until("alive")
        if by == "server":
            refused = awo.inside("sandbox", "destroy", order_id)
            assert refused.code == 2 and "Somebody works in" in refused.err
        shell.type("exit 9\n")
        assert shell.end() == 9
        assert "made" in before and "owned" not in before + shell.seen
        kept = awo.inside("sandbox", "exec", order_id, "--", "cat", "new.txt")
        assert kept.out == "made\n\n"
    assert awo.left_behind() == []


def test_a_shell_ends_with_the_window_of_its_person(awo: Any) -> None:
    order_id = ordered(awo)
    with Typed(awo, order_id) as shell:
        shell.until("$ ")
        for fd in (shell.ours, shell.theirs):
            os.close(fd)
        assert shell.process.wait(60) != 0
    assert awo.left_behind() == []


def test_a_shell_needs_a_terminal(awo: Any) -> None:
    refused = awo.inside("sandbox", "shell", "wo-aaaa")
    assert refused.code == 2 and refused.err.startswith("error: A shell needs a terminal")


def test_refusals_are_one_line(awo: Any) -> None:
    order_id = ordered(awo)
    nobody = "wo-aaaaaaaaaaaaaaaa"
    for args, code in (
        (("show", nobody), 2),
        (("show", f"git_worktree-{nobody}"), 2),
        (("destroy", nobody), 2),
        (("exec", nobody, "--", "true"), 2),
        (("exec", order_id, "--", ""), 2),
    ):
        done = awo.inside("sandbox", *args)
        assert done.code == code and done.err.startswith("error: "), args
        assert done.err.count("\n") == 1 and done.out == ""
        told = awo.inside("sandbox", args[0], "--json", *args[1:])
        assert told.code == code and json.loads(told.out)["error"]["code"]


GATED = """\
name: gated
tasks:
  ask:
    approval: {message: Begin?}
    uses: agent.prompt
    with: {prompt: Go}
"""


def test_hints_help(awo: Any) -> None:
    def hint(code: str, *args: str) -> str:
        told = awo.inside("sandbox", args[0], "--json", *args[1:]).json["error"]
        assert told["code"] == code, told
        return str(told["hint"])

    order_id = ordered(awo)
    assert "`awo sandbox list --all`" in hint("sandbox_unknown", "show", "git_worktree-wo-none")
    assert order_id in awo.inside("sandbox", "list", "--all").out
    said = hint("argv_invalid", "exec", order_id, "--", "")
    assert "`awo sandbox exec ORDER git status`" in said
    assert "calc.py" in awo.inside("sandbox", "exec", order_id, "git", "status").out
    shell = awo.inside("sandbox", "shell", order_id)
    assert "`awo sandbox exec ORDER PROGRAM`" in shell.err, "terminal_needed"
    assert awo.inside("sandbox", "exec", order_id, "true").code == 0
    (awo.folder / "gated.yaml").write_text(GATED)
    request = ("run", "--repo", "repo", "--workflow", "gated.yaml", "--agent-command", "true")
    waits = awo(*request, "--json").json["agent_work_order"]["agent_work_order_id"]
    assert f"`awo show {waits}`" in hint("sandbox_not_made", "exec", waits, "true")
    assert "Begin?" in awo.inside("show", waits).out


def test_the_isolation_table(awo: Any) -> None:
    shown = awo.inside("sandbox", "matrix")
    assert shown.code == 0, shown.err
    rows = awo.inside("sandbox", "matrix", "--json").json["sandbox_types"]
    there = {one["name"]: one for one in rows if one["isolation"]}
    assert {"git_branch", "git_worktree", "bubblewrap"} <= set(there)
    assert there["git_worktree"]["problem"] is None and there["git_worktree"]["default"]
    for name, one in there.items():
        assert name in shown.out
        for said in one["isolation"].values():
            assert said and said in shown.out
    assert not awo.home.exists()
    with serving(awo):
        asked = awo.inside("sandbox", "matrix", "--json").json["sandbox_types"]
    assert [one["name"] for one in asked] == [one["name"] for one in rows]


def test_programs_run_in_a_box(awo: Any) -> None:
    problem = {
        one["name"]: one["problem"]
        for one in awo.inside("sandbox", "matrix", "--json").json["sandbox_types"]
    }["bubblewrap"]
    if problem and os.environ.get("CI") != "true":
        pytest.skip(problem)
    order_id = ordered(awo, "--sandbox", "bubblewrap")
    done = awo.inside(
        "sandbox", "exec", order_id, "--", "sh", "-c", "pwd; ls /work; cat new.txt; exit 4"
    )
    assert done.code == 4 and done.out.endswith("made\n")
    outside = awo.inside("sandbox", "exec", order_id, "--", "ls", str(awo.folder))
    assert outside.code not in (0, 1) and "calc.py" not in outside.out
    assert awo.inside("sandbox", "destroy", order_id).code == 0
    assert awo.inside("checkout", order_id, "mine").code == 0
    assert (awo.folder / "mine/new.txt").read_text() == "made\n"
