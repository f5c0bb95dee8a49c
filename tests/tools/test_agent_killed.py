"""Kills from outside (no memory, a person) pass: nothing is a failure for good because of them."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from bench import Bench

from agent_work_orders.errors import Transient
from agent_work_orders.repositories.failure import classify
from agent_work_orders.repositories.git import Git
from agent_work_orders.workflow_engine.events import TaskFailed

WORK = "if [ -e half ]; then echo whole > whole; else echo half > half; {how}; fi; echo gone on"


def order(how: str) -> dict[str, Any]:
    line = WORK.replace("{how}", how)
    return {"agent": {"name": "command", "argv": ["sh", "-c", line]}}


async def goes_on(bench: Bench, failed: object, given: dict[str, Any]) -> None:
    assert isinstance(failed, TaskFailed), failed
    assert failed.failure.category == "transient", failed.failure
    done = await bench.do("agent.prompt", path="build", attempt=2, prompt="go", order=given)
    assert done["text"] == "gone on"
    assert {"half", "whole"} <= await bench.files()


@pytest.mark.fault("G11")
@pytest.mark.parametrize("how", ["kill -9 $$", "sh -c 'kill -9 $$'; exit 137"])
async def test_an_agent_that_is_killed(bench: Bench, how: str) -> None:
    given = order(how)
    failed = await bench.perform("agent.prompt", path="build", prompt="go", order=given)
    await goes_on(bench, failed, given)


@pytest.mark.parametrize("which", ["the supervisor", "the one of this execution"])
async def test_a_supervisor_that_is_killed(bench: Bench, which: str) -> None:
    given = order("sleep 600")
    working = asyncio.create_task(
        bench.perform("agent.prompt", path="build", prompt="go", order=given)
    )
    while not (bench.repo / "half").exists():
        await asyncio.sleep(0.05)
    supervisor = bench.sandboxes._host.supervisor._process.pid  # type: ignore[union-attr]
    victims = [str(supervisor)]
    if which != "the supervisor":
        victims = Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text().split()
    for victim in victims:
        os.kill(int(victim), signal.SIGKILL)
    await goes_on(bench, await working, given)


def killing(folder: Path, word: str) -> Git:
    """A git that is killed, once, at one of its tasks."""
    mark = folder / "killed"
    program = folder / "bin" / "git"
    program.parent.mkdir()
    real = Git().executable
    program.write_text(
        f'#!/bin/sh\ncase " $* " in *" {word} "*)\n'
        f'  mkdir "{mark}" 2> /dev/null && kill -9 $$ ;;\nesac\nexec {real} "$@"\n'
    )
    program.chmod(0o755)
    folder.chmod(0o777)
    return Git(executable=str(program))


@pytest.mark.parametrize("word", ["commit-tree", "index-pack", "write-tree", "add", "pack-objects"])
async def test_a_git_that_is_killed_while_it_commits(bench: Bench, word: str) -> None:
    """The host's own, and the one inside of the sandbox. The agent does not work twice."""
    bench.git = killing(bench.folder, word)
    bench.restart()
    given = order("true")
    failed = await bench.perform("agent.prompt", path="build", prompt="go", order=given)
    assert (bench.folder / "killed").exists()
    assert isinstance(failed, TaskFailed), failed
    assert failed.failure.category == "transient", failed.failure
    await bench.do("agent.prompt", path="build", attempt=2, prompt="go", order=given)
    assert await bench.files() == {"README.md", "half"}, "it was not run again"


@pytest.mark.parametrize("stderr", [b"", b"error: index-pack died of signal 9\nfatal: no"])
def test_git_says_that_it_was_killed(stderr: bytes) -> None:
    failure = classify("fetch", -9 if not stderr else 128, stderr)
    assert isinstance(failure, Transient) and failure.code == "git_killed"
    assert classify("fetch", 128, b"fatal: bad things").code == "git_failed"
