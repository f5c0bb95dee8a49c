"""Killed processes, full and failing disks: what was acknowledged is there."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agent_work_orders.clock import Clock
from agent_work_orders.errors import AgentWorkOrdersError, Environmental
from agent_work_orders.state_manager.journal import LoadedRun
from agent_work_orders.state_manager.sqlite.store import SqliteStore
from agent_work_orders.testing.conformance.journal import commit, loaded, refusal

CHILD = Path(__file__).with_name("journal_child.py")
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def acknowledged(output: bytes) -> dict[str, int]:
    """The last acknowledged event of each run; a line cut by the kill was not read by anyone."""
    found: dict[str, int] = {}
    for line in output.split(b"\n")[:-1]:
        run_id, _, seq = line.decode().partition(" ")
        if seq.isdigit():
            found[run_id] = int(seq)
    return found


async def check_prefix(home: Path, clock: Clock, told: dict[str, int]) -> None:
    """Nothing acknowledged is missing, nothing is broken, the outbox fits the events."""
    store = SqliteStore.open(home, clock)
    try:
        assert list(await store.journal.verify()) == []
        for run_id, seq in told.items():
            assert len((await loaded(store.journal, run_id)).events) >= seq
        for run in (await store.journal.load_open()).runs:
            assert isinstance(run, LoadedRun)
            assert [e.effect_id for e in run.effects] == [f"perform:{len(run.events)}"]
    finally:
        await store.close()


@pytest.mark.fault("A3")
@pytest.mark.fault("A19")
async def test_kill_in_a_loop_loses_nothing_acknowledged(tmp_path: Path, clock: Clock) -> None:
    chance = random.Random(20)
    told: dict[str, int] = {}
    for _ in range(6):
        child = subprocess.Popen(
            [sys.executable, str(CHILD), str(tmp_path), "20"],
            stdout=subprocess.PIPE,
            env=ENVIRONMENT,
        )
        assert child.stdout is not None and child.stdout.readline() == b"open\n"
        lines = [child.stdout.readline() for _ in range(chance.randrange(1, 2_000))]
        child.send_signal(signal.SIGKILL)
        rest = child.stdout.read()
        child.wait()
        child.stdout.close()
        told.update(acknowledged(b"".join(lines) + rest))
        await check_prefix(tmp_path, clock, told)
    assert sum(told.values()) > 100


def run_under_strace(strace: str, inject: str, home: Path, *child: str) -> tuple[int, bytes]:
    done = subprocess.run(
        [
            strace,
            "-f",
            "-qq",
            "-o",
            os.devnull,
            "-e",
            "trace=fdatasync,fsync",
            "-e",
            inject,
            sys.executable,
            str(CHILD),
            str(home),
            *child,
        ],
        stdout=subprocess.PIPE,
        env=ENVIRONMENT,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.mark.slow
@pytest.mark.fault("A3")
async def test_kill_at_every_sync(tmp_path: Path, clock: Clock, strace: str) -> None:
    kills = 0
    for k in range(1, 40, 3):
        home = tmp_path / str(k)
        code, output = run_under_strace(
            strace, f"inject=fdatasync,fsync:signal=KILL:when={k}", home, "3", "6"
        )
        kills += code != 0
        await check_prefix(home, clock, acknowledged(output))
        again = [sys.executable, str(CHILD), str(home), "3", "6"]
        subprocess.run(again, stdout=subprocess.DEVNULL, env=ENVIRONMENT, check=True)
        await check_prefix(home, clock, {f"wo-{n}": 6 for n in range(3)})
    assert kills >= 4


@pytest.mark.fault("A12")
async def test_a_failing_fsync_halts_the_journal(tmp_path: Path, clock: Clock, strace: str) -> None:
    await SqliteStore.open(tmp_path, clock).close()
    code, output = run_under_strace(
        strace, "inject=fdatasync:error=EIO:when=12+", tmp_path, "2", "500"
    )
    assert code == 3
    assert b"failed journal_halted" in output
    assert b"refused journal_halted" in output
    told = acknowledged(output)
    assert told
    await check_prefix(tmp_path, clock, told)


async def fill(store: SqliteStore, body: bytes) -> int:
    """Append until the disk is full; returns the last acknowledged event."""
    seq = len(await store.journal.events("wo-a"))
    while True:
        codes = await asyncio.gather(
            *(refusal(store.journal, commit("wo-a", seq + n, body=body)) for n in range(1, 5))
        )
        kept = codes.count("accepted")
        assert codes == ["accepted"] * kept + ["journal_full"] * (4 - kept)
        seq += kept
        if kept < 4:
            return seq


@pytest.mark.fault("A13")
async def test_a_full_volume_refuses_and_goes_on_after(volume: Path, clock: Clock) -> None:
    home = volume / "home"
    store = SqliteStore.open(home, clock)
    ballast = volume / "ballast"
    ballast.write_bytes(bytes(1_000_000))
    body = os.urandom(50_000)
    last = await fill(store, body)
    assert last > 3
    assert store.trouble() is not None
    assert await refusal(store.journal, commit("wo-b", 1)) == "journal_full"
    with pytest.raises(Environmental):
        await store.ledger.intend("k", order_id="wo-a", what="push", intent={}, at_ms=1)
    assert len(await store.journal.events("wo-a")) == last
    store.logbook.add("wo-a", at_ms=1, level="info", event="still_here", fields={})
    ballast.unlink()
    await store.journal.reopen()
    assert store.trouble() is None
    there = len((await loaded(store.journal, "wo-a")).events)
    assert there == last
    await store.journal.append(commit("wo-a", there + 1))
    assert list(await store.journal.verify()) == []
    await store.close()


@pytest.mark.fault("A13")
async def test_reopening_a_full_volume_says_so_again(volume: Path, clock: Clock) -> None:
    store = SqliteStore.open(volume / "home", clock)
    ballast = volume / "ballast"
    ballast.write_bytes(bytes(1_000_000))
    last = await fill(store, os.urandom(100_000))
    assert last > 0
    with pytest.raises(AgentWorkOrdersError) as caught:
        await store.journal.reopen()
    assert caught.value.code == "journal_full"
    ballast.unlink()
    await store.journal.reopen()
    await store.journal.append(commit("wo-a", last + 1))
    await store.close()
