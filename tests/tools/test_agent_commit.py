"""When the agent is done, committing is a step of its own: what goes wrong there costs no turn."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest
from bench import Bench, Crash

from agent_work_orders.engines import perform
from agent_work_orders.errors import Environmental, Transient
from agent_work_orders.sandbox_manager import commit_size
from agent_work_orders.tools.agent_attempt import Attempt
from agent_work_orders.tools.tool import Prompt
from agent_work_orders.tools.workspaces import Workspace
from agent_work_orders.workflow_engine.events import TaskFailed, TaskSucceeded

COUNTING = 'echo run >> "$HOME/runs"; echo work > work.txt; echo the agent is done'


def agent(line: str) -> dict[str, Any]:
    return {"agent": {"name": "command", "argv": ["sh", "-c", line]}}


def runs(bench: Bench) -> int:
    return len((bench.repo.parent / "home" / "runs").read_text().splitlines())


class Troubles:
    """What the next commits meet instead of being made."""

    def __init__(self, *troubles: BaseException) -> None:
        self.left = list(troubles)

    def install(self, patch: pytest.MonkeyPatch) -> None:
        commit = Workspace.commit

        async def first_trouble(workspace: Workspace, *given: Any, **named: Any) -> str | None:
            if self.left:
                raise self.left.pop(0)
            return await commit(workspace, *given, **named)

        patch.setattr(Workspace, "commit", first_trouble)


@pytest.mark.parametrize(
    ("trouble", "generation"),
    [
        (Transient("git_timeout", "git took too long"), 1),
        (Environmental("disk_full", "no space"), 2),
        (Crash("kill -9"), 1),
        (asyncio.CancelledError(), 1),
    ],
    ids=["a slow git", "a full disk and a person's retry", "a killed server", "a stopped task"],
)
async def test_the_next_attempt_only_commits(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, trouble: BaseException, generation: int
) -> None:
    Troubles(trouble).install(monkeypatch)
    with contextlib.suppress(Crash):
        await bench.perform("agent.prompt", path="build", prompt="go", order=agent(COUNTING))
    bench.restart()
    done = await bench.do(
        "agent.prompt",
        path="build",
        attempt=2,
        generation=generation,
        prompt="go",
        order=agent(COUNTING),
    )
    assert runs(bench) == 1
    assert done["text"] == "the agent is done" and done["changed"]
    assert "work.txt" in await bench.files()
    assert len(await bench.log()) == 1


async def test_done_work_that_is_gone_is_done_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when the attempt that found it gone was cut off before its agent began."""
    Troubles(Crash("kill -9")).install(monkeypatch)
    order = agent(COUNTING)
    with pytest.raises(Crash):
        await bench.perform("agent.prompt", path="build", prompt="go", order=order)
    bench.restart()
    await bench.sandboxes.reap(set(), bench.desk.clock.now_ms())
    with monkeypatch.context() as patch, pytest.raises(Crash):
        patch.setattr(Attempt, "_first_turn", _crash)
        await bench.perform("agent.prompt", path="build", attempt=2, prompt="go", order=order)
    bench.restart()
    done = await bench.do("agent.prompt", path="build", attempt=3, prompt="go", order=order)
    assert done["changed"] and runs(bench) == 1
    assert "work.txt" in await bench.files()


async def _crash(*_given: Any) -> None:
    raise Crash("kill -9")


async def test_it_has_time_of_its_own(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """However little of the task's time the agent left."""
    monkeypatch.setattr(perform, "GRACE_S", 0.0)
    commit = Workspace.commit
    limit_s = 2.0

    async def slow(workspace: Workspace, *given: Any, **named: Any) -> str | None:
        await asyncio.sleep(limit_s)
        return await commit(workspace, *given, **named)

    monkeypatch.setattr(Workspace, "commit", slow)
    answer = await bench.perform(
        "agent.prompt", path="build", prompt="go", order=agent(COUNTING), timeout_s=limit_s
    )
    assert isinstance(answer, TaskSucceeded), answer


async def test_prompts_that_came_meanwhile_are_delivered(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    Troubles(Transient("git_timeout", "git took too long")).install(monkeypatch)
    await bench.perform("agent.prompt", path="build", prompt="go", order=agent(COUNTING))
    bench.waiting.append(Prompt(prompt_id="p1", text="and now this"))
    await bench.do("agent.prompt", path="build", attempt=2, prompt="go", order=agent(COUNTING))
    assert runs(bench) == 2


async def test_a_commit_that_cannot_be_made_lets_the_agent_change_it(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commit_size, "LIMIT_BYTES", 10_000)
    line = "if [ -e big ]; then rm big; echo ok > work.txt; else head -c 20000 /dev/zero > big; fi"
    order = agent(f"{COUNTING}; {line}")
    failed = await bench.fail("agent.prompt", path="build", prompt="go", order=order)
    assert failed.failure.code == "changes_too_large"
    assert failed.failure.category == "permanent"
    assert "big" in failed.failure.message
    bench.restart()
    await bench.do("agent.prompt", path="build", attempt=2, generation=2, prompt="go", order=order)
    assert runs(bench) == 2
    assert "big" not in await bench.files()


async def test_work_that_is_committed_is_over(bench: Bench) -> None:
    """Retrying a task that has ended lets the agent work, also if its end was never written."""
    bench.restart(crash_at=":commit")
    with pytest.raises(Crash):
        await bench.perform("agent.prompt", path="build", prompt="go", order=agent(COUNTING))
    bench.restart()
    order = agent(COUNTING)
    await bench.do("agent.prompt", path="build", attempt=2, prompt="go", order=order)
    assert runs(bench) == 1
    await bench.do("agent.prompt", path="build", attempt=3, generation=2, prompt="go", order=order)
    assert runs(bench) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "largest"),
    [
        ("head -c 500000000 /dev/urandom > data.bin", "data.bin (476.8 MiB)"),
        ("truncate -s 20G disk.img", "disk.img (20.0 GiB)"),
    ],
    ids=["500 MB", "20 GB sparse"],
)
async def test_large_files_are_named_at_once(bench: Bench, make: str, largest: str) -> None:
    order = agent(f"{COUNTING}; {make}")
    failed = await bench.fail("agent.prompt", path="build", prompt="go", order=order)
    assert isinstance(failed, TaskFailed)
    assert failed.failure.code == "changes_too_large"
    assert largest in failed.failure.message
    assert failed.failure.category == "permanent"
    assert runs(bench) == 1
    packs = (bench.home / "mirrors").glob("*.git/objects/pack/*.pack")
    assert max(pack.stat().st_size for pack in packs) < 1_000_000
