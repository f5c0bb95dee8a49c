"""`awo command`: what agents can be told by name."""

from __future__ import annotations

import signal
import subprocess
from typing import Any

HOSTILE = b'---\ndescription: "red \\e[31m"\n---\nDo \x1b]0;title\x07 $1.\n'


def test_commands_are_listed_and_shown(awo: Any) -> None:
    repository = awo.repository()
    folder = repository / ".claude" / "commands"
    folder.mkdir(parents=True)
    (folder / "paint.md").write_bytes(HOSTILE)
    (folder / "broken.md").write_text("---\ndescription: x\n")
    awo.git(repository, "add", ".")
    awo.git(repository, "commit", "-q", "-m", "Commands")

    plain = awo.inside("command", "list", "--repo", "repo")
    assert plain.code == 0, plain.err
    assert "\x1b" not in plain.out
    assert "/paint" in plain.out and "[1]" in plain.out
    assert ".claude/commands/broken.md:1: " in plain.out
    assert "Correct the file on the base branch." in plain.out
    found = awo.inside("command", "list", "--repo", "repo", "--json").json
    assert [one["name"] for one in found["commands"]] == ["build", "paint", "plan", "test"]
    assert found["problems"][0]["line"] == 1

    shown = awo.inside("command", "show", "/paint", "--repo", "repo")
    assert shown.code == 0, shown.err
    assert "\x1b" not in shown.out and "\x07" not in shown.out
    assert "Do " in shown.out
    whole = awo.inside("command", "show", "paint", "--repo", "repo", "--json").json
    assert whole["command"]["body"] == "Do \x1b]0;title\x07 $1.\n"

    # Nothing was made by looking but what a fetch keeps.
    assert awo.inside("command", "show", "paimt", "--repo", "repo").code == 2
    assert awo.inside("command", "show", "broken", "--repo", "repo").code == 2
    assert awo.inside("command", "list", "--repo", "repo", "--base", "no").code == 2


def test_outside_of_a_repository_the_built_in_ones_are_listed(awo: Any) -> None:
    found = awo.inside("command", "list", "--json").json
    assert {one["origin"] for one in found["commands"]} == {"builtin"}
    assert awo.inside("command", "list", "--base", "main").code == 2


def test_a_server_gives_the_same_answers(awo: Any) -> None:
    awo.repository()
    here = awo.inside("command", "list", "--repo", "repo", "--json").json
    shown = awo.inside("command", "show", "plan", "--repo", "repo", "--json").json
    server = awo.start("up", "--port", "0", err=subprocess.DEVNULL)
    try:
        assert "listens at http://127.0.0.1:" in server.stdout.readline()
        assert awo.inside("command", "list", "--repo", "repo", "--json").json == here
        assert awo.inside("command", "show", "plan", "--repo", "repo", "--json").json == shown
        unknown = awo.inside("command", "show", "plam", "--repo", "repo")
        assert unknown.code == 2 and "Did you mean /plan" in unknown.err
    finally:
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=60)
