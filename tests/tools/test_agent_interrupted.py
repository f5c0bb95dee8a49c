"""An attempt that was interrupted: what the next one goes on with, and what it is billed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from bench import CANARY, Bench

from agent_work_orders.agent_executor import transcript
from agent_work_orders.agent_executor.agent import (
    METER,
    Agent,
    Entry,
    Transcript,
    Turn,
    meter_entry,
)
from agent_work_orders.agent_executor.registry import Registry
from agent_work_orders.clock import SystemClock
from agent_work_orders.engines.perform import Performer
from agent_work_orders.tools import agent_earlier
from agent_work_orders.tools.agent import AgentPrompt, Agents
from agent_work_orders.tools.tool import Prompt
from agent_work_orders.workflow_engine.events import TaskFailed, TaskParked, TaskSucceeded, Usage

pytestmark = pytest.mark.fault("N6")

SESSION = "12345678-1234-4234-8234-123456789012"


def first_then(ending: str) -> dict[str, Any]:
    """An agent that leaves half of its work and ends so; finding the half, it makes the whole."""
    line = (
        "if [ -e half.txt ]; then cat half.txt > whole.txt; echo gone on; "
        f"else mkdir -p .cache; echo half > half.txt; {ending}; fi"
    )
    return {"agent": {"name": "command", "argv": ["sh", "-c", line]}}


def reports(kind: str) -> str:
    return f"""echo '{{"type":"result","error":{{"kind":"{kind}","message":"no"}}}}'"""


@pytest.mark.parametrize(
    "ending",
    [reports("server"), reports("network"), reports("overloaded"), reports("rate_limit")],
)
async def test_a_park_keeps_the_files_and_makes_one_commit(bench: Bench, ending: str) -> None:
    order = first_then(ending)
    parked = await bench.perform("agent.prompt", path="build", prompt="go", order=order)
    assert isinstance(parked, TaskParked), parked
    done = await bench.do("agent.prompt", path="build", attempt=2, prompt="go", order=order)
    assert done["text"] == "gone on"
    assert {"half.txt", "whole.txt"} <= await bench.files()
    assert len(await bench.log()) == 1


@pytest.mark.parametrize(
    ("ending", "generation", "kept"),
    [
        ("kill -9 $$", 1, True),
        ("kill -15 $$", 1, True),
        (reports("timeout"), 2, True),
        (reports("budget"), 2, True),
        (reports("auth"), 2, True),
        ("echo bad; exit 1", 2, False),
        (reports("protocol"), 2, False),
        (reports("invalid_request"), 2, False),
    ],
)
async def test_a_failure_keeps_them_unless_the_work_itself_is_bad(
    bench: Bench, ending: str, generation: int, kept: bool
) -> None:
    """Generation 2: a person retried what had failed for good."""
    order = first_then(ending)
    failed = await bench.fail("agent.prompt", path="build", prompt="go", order=order)
    assert failed.outputs is not None and failed.outputs["kept_sha"]
    answer = await bench.perform(
        "agent.prompt", path="build", attempt=2, generation=generation, prompt="go", order=order
    )
    assert isinstance(answer, TaskSucceeded) is kept, answer


@pytest.mark.parametrize("swept", [False, True], ids=["in place", "from the mirror"])
@pytest.mark.parametrize("sandbox_type", ["git_worktree", "git_branch"])
async def test_it_outlives_the_server_and_the_sandbox(
    bench: Bench, swept: bool, sandbox_type: str
) -> None:
    order = first_then(reports("server")) | {"sandbox_type": sandbox_type}
    await bench.perform("agent.prompt", path="build", prompt="go", order=order)
    bench.restart()
    if swept:
        await bench.sandboxes.reap(set(), bench.desk.clock.now_ms())
        assert not bench.repo.exists()
    else:
        (bench.repo / ".cache" / "built").write_text("ignored files stay, too")
    done = await bench.do("agent.prompt", path="build", attempt=2, prompt="go", order=order)
    assert done["text"] == "gone on" and len(await bench.log()) == 1
    assert (bench.repo / ".cache" / "built").exists() is not swept


async def test_a_killed_servers_attempt_goes_on_in_its_files(bench: Bench) -> None:
    order = first_then("sleep 600")
    request = bench.request("agent.prompt", path="build", prompt="go", order=order)
    working = asyncio.create_task(bench.desk.perform(request))
    while not (bench.repo / "half.txt").exists():
        await asyncio.sleep(0.05)
    working.cancel()
    await asyncio.wait([working])
    bench.restart()
    done = await bench.do("agent.prompt", path="build", attempt=2, prompt="go", order=order)
    assert done["text"] == "gone on"


async def test_nobody_else_sees_half_of_the_work(bench: Bench) -> None:
    order = first_then(reports("server"))
    await bench.perform("agent.prompt", path="build", prompt="go", order=order)
    bench.restart()
    looked = await bench.do("sandbox.exec", path="look", argv=["ls"])
    assert "half.txt" not in str(looked)
    other = await bench.perform("agent.prompt", path="other", prompt="go", order=order)
    assert isinstance(other, TaskParked), "the other task begins with its own first half"
    looked = await bench.do("sandbox.exec", path="look2", argv=["ls"])
    assert "half.txt" not in str(looked)
    done = await bench.do("agent.prompt", path="build", attempt=2, prompt="go", order=order)
    assert done["text"] == "gone on"


async def test_files_that_cannot_be_kept_do_not_stop_the_next_task(bench: Bench) -> None:
    deep = "d=$(printf 'a%.0s' $(seq 200)); for _ in $(seq 30); do mkdir $d; cd -P $d; done"
    order = first_then(f"{deep}; echo x > x; {reports('server')}")
    assert isinstance(
        await bench.perform("agent.prompt", path="build", prompt="go", order=order), TaskParked
    )
    bench.restart()
    bench.lines.clear()
    looked = await bench.do("sandbox.exec", path="look", argv=["ls"])
    assert "half.txt" not in str(looked)
    assert "evidence_not_kept" in [event for event, _ in bench.lines]


async def test_what_the_head_left_behind_is_not_brought_back(bench: Bench) -> None:
    order = first_then(reports("server"))
    await bench.perform("agent.prompt", path="build", prompt="go", order=order)
    await bench.agent("default: [{write: {path: other.txt, content: other}}]", path="other")
    again = await bench.perform("agent.prompt", path="build", attempt=2, prompt="go", order=order)
    assert isinstance(again, TaskParked), "it began anew, on the new head"
    assert "other.txt" in await bench.files()


async def test_finished_work_is_not_gone_on_with(bench: Bench) -> None:
    order = first_then("echo made")
    await bench.do("agent.prompt", path="build", prompt="go", order=order)
    bench.restart()
    line = {"agent": {"name": "command", "argv": ["sh", "-c", "git status --short; echo ."]}}
    told = await bench.do("agent.prompt", path="build", generation=2, prompt="go", order=line)
    assert told["text"] == "." and "half.txt" in await bench.files()


async def test_prompts_given_before_a_park_are_not_given_again(bench: Bench) -> None:
    line = f"echo turn >> turns.txt; [ $(wc -l < turns.txt) -lt 3 ] || {reports('server')}"
    bench.waiting = [Prompt(prompt_id="p1", text="more"), Prompt(prompt_id="p2", text="again")]
    parked = await bench.perform(
        "agent.prompt", path="b", prompt="go",
        order={"agent": {"name": "command", "argv": ["sh", "-c", line]}},
    )  # fmt: skip
    assert isinstance(parked, TaskParked) and parked.prompts == ("p1",)


# -- money


class Talker:
    """An agent that tells what it uses, and then works for ever or ends."""

    name = "talker"
    scripted = False

    def __init__(self, turn: Turn | None) -> None:
        self._turn = turn
        self.told = asyncio.Event()

    def check(self) -> str | None:
        return None

    async def run(self, *_given: Any, transcript: Transcript, **_more: Any) -> Turn:
        transcript(meter_entry(used(0.25, 2, unpriced_turns=1), SESSION, None))
        self.told.set()
        return self._turn or await asyncio.Event().wait()  # type: ignore[return-value]


class Only(Registry):
    def __init__(self, agent: Talker) -> None:
        super().__init__(SystemClock())
        self._agent = agent

    def create(self, chosen: Mapping[str, Any]) -> Agent:
        return self._agent


def desk_of(bench: Bench, agent: Talker) -> Performer:
    agents = Agents(
        bench.workspaces,
        Only(agent),
        sink=lambda _order, _path, line: bench.transcript.append(line),
        redact=bench.redactor.text,
    )
    return Performer(
        {"agent.prompt": AgentPrompt(agents)},
        ledger=bench.ledger,
        artifacts=bench.shelf,
        clock=SystemClock(),
        log=lambda *_: None,
        clean=bench.redactor,
    )


async def test_a_cancelled_attempt_is_counted(bench: Bench) -> None:
    agent = Talker(None)
    request = bench.request("agent.prompt", path="build", prompt="go")
    working = asyncio.create_task(desk_of(bench, agent).perform(request))
    await agent.told.wait()
    working.cancel()
    answer = await working
    assert isinstance(answer, TaskFailed) and answer.failure.code == "cancelled"
    assert answer.usage == used(0.25, 2, unpriced_turns=1)


async def test_what_was_denied_is_told_without_secrets(bench: Bench) -> None:
    turn = Turn(ok=True, text="ok", saw_end=True, denials=(f"Bash(echo {CANARY})",))
    request = bench.request("agent.prompt", path="build", prompt="go")
    answer = await desk_of(bench, Talker(turn)).perform(request)
    assert isinstance(answer, TaskSucceeded)
    (denial,) = answer.denials
    assert denial.startswith("Bash(echo ") and CANARY not in denial


def used(cost_usd: float, turns: int, **more: Any) -> Usage:
    return Usage(cost_usd=cost_usd, turns=turns, input_tokens=10 * turns, **more)


def write(bench: Bench, attempt: int, usage: Usage, total: float | None = None) -> None:
    entry, _ = agent_earlier.mark(meter_entry(usage, SESSION, total), attempt, Usage())
    bench.transcript.append(transcript.encode(entry))


async def test_what_a_lost_attempt_used_is_counted_once_with_the_next_answer(bench: Bench) -> None:
    write(bench, 1, used(0.1, 1))
    write(bench, 1, used(0.25, 2, estimated_usd=0.25))
    write(bench, 2, used(0.5, 3), total=0.5)
    for ending, lost, cost in (
        (reports("server"), (1,), 0.25),
        (reports("budget"), (1, 2), 0.75),
        ("echo ok", (), 0.0),
        ("echo ok", (7,), 0.0),
    ):
        request = bench.request(
            "agent.prompt", path=f"p{len(ending)}{lost}".replace(",", "").replace(" ", ""),
            attempt=3, prompt="go", order=first_then(ending),
        )  # fmt: skip
        answer = await bench.desk.perform(msgspec.structs.replace(request, lost=lost))
        assert isinstance(answer, TaskSucceeded | TaskFailed | TaskParked)
        assert answer.recovered == lost
        spent = answer.usage or Usage()
        assert spent.cost_usd == pytest.approx(cost)
        # It is known now what nobody knew before; this attempt's own program told nothing.
        assert spent.unpriced_turns == 1 - len(lost)


def test_the_last_session_and_its_cost_are_found() -> None:
    def line(session: str | None, total: float | None, attempt: int = 1) -> Entry:
        entry = meter_entry(used(0.1 * attempt, attempt), session, total)
        return agent_earlier.mark(entry, attempt, Usage())[0]

    noise = Entry(kind="text", text="x", data={METER: {"usage": {"cost_usd": 99}, "attempt": 1}})
    broken = Entry(kind="system", text="x", data={METER: {"usage": "much"}})
    lines = [line("one", 1.0), line("two", None), noise, broken, line("two", 3.0, 2)]
    found = agent_earlier.read([*lines, line("two", None, 3)])
    assert (found.session_id, found.session_cost_usd) == ("two", 3.0)
    assert {n: round(one.cost_usd, 2) for n, one in found.used.items()} == {1: 0.1, 2: 0.2, 3: 0.3}
    assert agent_earlier.read([*lines, agent_earlier.over()]).session_id is None
    assert agent_earlier.read([]).session_id is None
