"""Without a server a command works on the order that it was asked for, and on no other."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import Any

import pytest

EDIT = "echo x >> calc.py"


def begin_and_interrupt(awo: Any, name: str) -> str:
    """An order whose agent counts its starts and works on only when it may; its id."""
    starts, go = awo.folder / f"{name}.starts", awo.folder / f"{name}.go"
    agent = awo.agent(
        f"echo start >> {starts}; while [ ! -e {go} ]; do sleep 0.1; done; {EDIT}", name
    )
    process = awo.start(*command(), "--agent-command", agent, "--json", name)
    while not starts.exists():
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    listed = awo.inside("list", "--json").json["agent_work_orders"]
    return str(next(one["agent_work_order_id"] for one in listed if one["title"] == name))


def command() -> tuple[str, ...]:
    return ("run", "--repo", "repo", "--workflow", "agent_workflow_build")


def starts(awo: Any, name: str) -> int:
    path: Path = awo.folder / f"{name}.starts"
    return len(path.read_text().splitlines())


@pytest.mark.slow
def test_other_open_orders_are_left_as_they_are(awo: Any) -> None:
    awo.repository()
    awo.folder.chmod(0o777)
    first = begin_and_interrupt(awo, "first")
    second = begin_and_interrupt(awo, "second")
    before = {one: awo.inside("show", one, "--json").json for one in (first, second)}
    workspaces = sorted(path.name for path in (awo.home / "workspaces").iterdir())
    assert {first, second} <= set(workspaces)

    third = awo(*command(), "--agent-command", awo.agent(EDIT, "third"), "third")
    assert third.code == 0, third.err
    assert {one: awo.inside("show", one, "--json").json for one in before} == before
    assert {first, second} <= {path.name for path in (awo.home / "workspaces").iterdir()}

    (awo.folder / "first.go").touch()
    resumed = awo("resume", first[:9])
    assert resumed.code == 0, resumed.out + resumed.err
    assert (starts(awo, "first"), starts(awo, "second")) == (2, 1)
    assert awo.inside("show", second, "--json").json == before[second]

    assert awo("cancel", second).code == 0
    shown = awo.inside("show", second, "--json").json["agent_work_order"]
    assert shown["status"] == "cancelled"
    assert starts(awo, "second") == 1
    assert awo.left_behind() == []
