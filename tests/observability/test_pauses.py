"""Pauses of the event loop are measured, named and told."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
import time

from agent_work_orders.clock import SystemClock
from agent_work_orders.observability import pauses
from agent_work_orders.observability.pauses import Pause, Pauses


def hold_everybody(seconds: float) -> None:
    time.sleep(seconds)


async def watched(*holds: float) -> tuple[Pauses, list[tuple[Pause, int]]]:
    told: list[tuple[Pause, int]] = []
    watch = Pauses(SystemClock(), lambda pause, more: told.append((pause, more)))
    watch.start()
    try:
        for seconds in holds:
            await asyncio.sleep(2 * pauses.BEAT_S)
            hold_everybody(seconds)
        await asyncio.sleep(2 * pauses.BEAT_S)
    finally:
        watch.stop()
        watch.stop()
    return watch, told


async def test_a_long_pause_is_told_with_what_was_running() -> None:
    watch, told = await watched(0.3)
    (pause, more), *_ = told
    assert pause.lasted_s > 0.25
    assert "hold_everybody" in pause.running
    assert more == 0
    assert watch.longest is not None and watch.longest.lasted_s >= pause.lasted_s
    assert pause.fields()["lasted_ms"] > 250


async def test_a_pause_that_computes_is_told_from_one_that_waits() -> None:
    watch, _ = await watched(0.3)
    assert watch.longest is not None
    assert watch.longest.loop_cpu_s < watch.longest.lasted_s / 2


async def test_pauses_in_a_row_are_counted_and_told_once_a_second() -> None:
    watch, told = await watched(0.15, 0.15)
    assert watch.count >= 2
    assert len(told) < watch.count


async def test_a_collection_is_seen_as_one() -> None:
    rows = [[number] for number in range(300_000)]
    watch = Pauses(SystemClock())
    watch.start()
    await asyncio.sleep(2 * pauses.BEAT_S)
    before = time.thread_time()
    while time.thread_time() - before < 0.1:
        gc.collect()
    await asyncio.sleep(2 * pauses.BEAT_S)
    watch.stop()
    assert rows and watch.longest is not None
    assert watch.longest.collector_s > watch.longest.loop_cpu_s / 2


async def test_it_leaves_nothing_behind() -> None:
    before = set(threading.enumerate())
    callbacks = list(gc.callbacks)
    await watched(0.0)
    assert set(threading.enumerate()) == before
    assert gc.callbacks == callbacks


def test_a_place_names_the_innermost_and_ours() -> None:
    assert pauses.place(sys._getframe()).startswith("test_pauses.py:")
    assert pauses.place(None) == ""
