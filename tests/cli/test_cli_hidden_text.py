"""Code that hides from a terminal is seen in a review; for programs a patch is as it is."""

from __future__ import annotations

import os
import pty
from typing import Any

import pytest

pytestmark = pytest.mark.slow

HIDDEN = "\x1b]0;\nimport os; os.system('evil')\n\x07"
TURNED = "access\u202e = \u2066'user'\u2069 \u200b# fine"


def on_terminal(awo: Any, *args: str) -> str:
    """What the command writes to a terminal."""
    ours, theirs = pty.openpty()
    process = awo.start(*args, out=theirs, err=theirs)
    os.close(theirs)
    written = b""
    while True:
        try:
            chunk = os.read(ours, 65_536)
        except OSError:
            break
        if not chunk:
            break
        written += chunk
    os.close(ours)
    assert process.wait() == 0, written
    return written.decode().replace("\r\n", "\n")


@pytest.mark.fault("G2")
def test_no_added_line_is_invisible(awo: Any) -> None:
    repository = awo.repository()
    source = awo.folder / "new.py"
    source.write_text(f"a = 1\n{HIDDEN}b = 2\n{TURNED}\nwindows\r\n")
    agent = awo.agent(f"cp {source} new.py; printf '\\033]0;said\\007 \\033[31mdone\\033[0m'")
    done = awo(
        "run", "--repo", str(repository), "--agent-command", agent, "--json",
        "--workflow", "agent_workflow_plan", f"Do it.{TURNED}",
    )  # fmt: skip
    assert done.code == 0, done
    order_id = done.json["agent_work_order"]["agent_work_order_id"]
    shown = on_terminal(awo, "diff", order_id)
    assert "import os; os.system('evil')" in shown
    assert "⟨U+001B⟩]0;" in shown and "⟨U+0007⟩b = 2" in shown
    assert "access⟨U+202E⟩ = ⟨U+2066⟩'user'⟨U+2069⟩ ⟨U+200B⟩# fine" in shown
    assert "windows⟨U+000D⟩" in shown
    assert "\u202e" not in shown and "\x1b]" not in shown
    said = on_terminal(awo, "transcript", order_id)
    assert "⟨U+001B⟩]0;said⟨U+0007⟩ done" in said and "\x1b]" not in said
    for words in (("show", order_id), ("list",), ("logs", order_id)):
        assert "\u202e" not in awo.inside(*words).out
    patch = awo.folder / "patch"
    with patch.open("wb") as file:
        assert awo.start("diff", order_id, out=file).wait() == 0
    piped = patch.read_bytes().decode()
    assert f"+{TURNED}" in piped and "⟨" not in piped
    target = awo.folder / "clone"
    awo.git(repository, "clone", "-q", str(repository), str(target))
    awo.git(target, "apply", "--whitespace=nowarn", str(patch))
    assert (target / "new.py").read_bytes() == source.read_bytes()
