"""What an agent does, in words: whole in the transcript, one line while it works."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from agent_work_orders.cli import entries

SCRIPT = """\
default:
  - thinking: Where is it?
  - write: {path: notes.md, content: "one\\ntwo\\n"}
  - run: [sh, -c, "echo looking; while [ ! -e GO ]; do sleep 0.05; done"]
  - usage: {input_tokens: 1200, output_tokens: 34, cost_usd: 0.5}
  - text: All done.
"""


def entry(kind: str, text: str = "", **data: Any) -> dict[str, Any]:
    return {"kind": kind, "text": text, "data": data}


@pytest.mark.parametrize(
    ("one", "doing"),
    [
        (entry("tool_use", "Edit", input={"old_string": "a", "file_path": "src/a.py"}),
         "Edit src/a.py"),
        (entry("tool_use", "Bash", input={"command": "pytest -q\nls"}), "Bash pytest -q"),
        (entry("tool_use", "Run", input={"argv": ["make", "test"]}), "Run make test"),
        (entry("tool_use", "Odd", input=7), "Odd"),
        (entry("tool_result", "1 passed\n\n2 failed\n"), "2 failed"),
        (entry("text", "First.\nThen \x1b[31mred\x07"), "Then red⟨U+0007⟩"),
        (entry("text", "  \n"), ""),
        (entry("thinking", "hm"), "thinking"),
        (entry("system", "used", meter={"usage": {}}), ""),
        (entry("prompt", "Do it"), ""),
    ],
)  # fmt: skip
def test_one_line_of_what_it_does(one: dict[str, Any], doing: str) -> None:
    assert entries.doing(one) == doing


def test_the_inputs_of_tools_are_shown() -> None:
    many = entry("tool_use", "Edit", input={"file_path": "a.py", "new": "x\ny", "all": True})
    assert entries.title(many) == "Edit"
    assert entries.body(many) == "file_path: a.py\nnew:\n  x\n  y\nall: true"
    long = entry("tool_use", "Write", input={"content": "x" * 10_000})
    assert "[… 10000 characters in all …]" in entries.body(long)
    assert len(entries.body(long)) < 5_000
    assert entries.title(entry("tool_result", "no", exit_code=2)) == "failed"
    assert entries.title(entry("tool_result", "no", is_error=True)) == "failed"


def test_the_end_of_a_turn_says_what_was_used() -> None:
    counted = entry("system", "used", meter={"usage": {"input_tokens": 1200, "output_tokens": 34}})
    end = entry("system", "end of turn", num_turns=3, total_cost_usd=0.5)
    used = entries.usage(counted)
    told = "end of turn · 3 steps · 1,200 tokens in, 34 out so far · $0.5000"
    assert entries.title(end, used) == told
    assert entries.body(end) == ""
    assert entries.title(end, None) == "end of turn · 3 steps · $0.5000"


def screen_of(awo: Any, until: Path, *args: str) -> str:
    """What a person at a terminal sees of a command; `until` is touched once the live view says
    what the agent runs."""
    main, side = pty.openpty()
    process = awo.start(*args, out=side, err=side, TERM="xterm", COLUMNS="100")
    os.close(side)
    seen = b""
    while True:
        try:
            part = os.read(main, 65536)
        except OSError:  # the other side is closed
            break
        seen += part
        if b"looking" in seen:
            until.touch()
    os.close(main)
    assert process.wait(60) == 0, seen.decode()
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode("utf-8", "replace"))


def test_it_is_seen_live_and_read_afterwards(awo: Any) -> None:
    awo.repository()
    awo.folder.chmod(0o777)
    go, script = awo.folder / "go", awo.folder / "steps.yaml"
    script.write_text(SCRIPT.replace("GO", str(go)))
    request = ("run", "--repo", "repo", "--workflow", "agent_workflow_build")
    live = screen_of(awo, go, *request, "--agent-script", str(script), "Go")
    assert "Run sh -c echo looking" in live
    [order] = awo.inside("list", "--json").json["agent_work_orders"]
    order_id = order["agent_work_order_id"]

    told = awo.inside("transcript", order_id).out
    assert "tool_use    Write\npath: notes.md\ncontent:\n  one\n  two\n" in told
    assert 'argv: ["sh", "-c", "echo looking' in told
    assert awo.inside("logs", order_id, "--transcript").out == told
    shown = awo.inside("show", order_id).out
    assert "1,200 tokens in, 34 out" in shown


def test_a_transcript_is_followed_until_the_order_ends(awo: Any) -> None:
    awo.repository()
    awo.folder.chmod(0o777)
    go = awo.folder / "go"
    agent = awo.agent(f"echo begun; while [ ! -e {go} ]; do sleep 0.05; done; echo over")
    request = ("run", "--repo", "repo", "--workflow", "agent_workflow_build")
    working = awo.start(*request, "--agent-command", agent, "Go", out=subprocess.DEVNULL)
    found: list[dict[str, Any]] = []
    while not found:
        found = awo.inside("list", "--json").json["agent_work_orders"]
    order_id = found[0]["agent_work_order_id"]
    lines = awo.start("logs", "-f", "--transcript", "--json", order_id)
    said: list[str] = []
    while "begun" not in "".join(said):
        said.append(json.loads(lines.stdout.readline())["text"])
    go.touch()
    out, err = lines.communicate(timeout=60)
    assert (lines.returncode, err) == (0, "")
    rest = [json.loads(line) for line in out.splitlines()]
    assert "over" in "".join(one["text"] for one in rest)
    assert {one["task"] for one in rest} == {"build"}
    working.communicate(timeout=60)
