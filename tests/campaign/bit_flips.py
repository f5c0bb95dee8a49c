"""Random bits of the database and its WAL are turned over, and the product is asked what it sees.

A populated data directory is made once, as a clean end and as a kill leave it, with rows in every
table. For each seed its database is copied, one bit is turned over, and the real ways in are taken:
doctor, the start of the whole house (no order is taken up), list and show, and a read of everything
else that the store keeps. Allowed are: everything as before; a refusal to start, with its steps; or
a difference that doctor or the order itself names. Anything else (another exception, an order or a
row that is gone or changed while doctor is content) is a failure.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

sys.path += [str(Path(__file__).parents[1] / room) for room in ("work_orders", "state_manager")]

import one_of_each
from one_of_each import Given
from site_bench import Site

from agent_work_orders.bootstrap import open_house
from agent_work_orders.cli import store_checkup
from agent_work_orders.errors import AgentWorkOrdersError
from agent_work_orders.security.roles import LOCAL_OPERATOR
from agent_work_orders.settings import load
from agent_work_orders.state_manager.records import OrderFilter
from agent_work_orders.work_orders import approvals, credentials, find, inspect
from agent_work_orders.work_orders.read_side import projection

GATED = """
name: gated
tasks:
  first: {uses: agent.command, with: {command: build}}
  second: {needs: [first], uses: agent.command, with: {command: build},
           approval: {message: "Go on?", expires: 1h}}
"""
LATER = "default: [{fail: {kind: rate_limit, message: slow down, retry_after_s: 3600}}]"
FAILING = "default: [{fail: {kind: invalid_request, message: no}}]"
FILES = (
    "journal.db",
    "journal.db-wal",
    "journal.db-shm",
    "journal.dirty",
    "local.key",
    "secret.key",
)
MOST_S = 10
"""A hundred times what one look takes."""
TIMES = ("updated_at_ms", "waiting_until_ms", "run_seq")

Seen = dict[str, Any]


class Original(msgspec.Struct, frozen=True):
    """A data directory and what is seen in it."""

    home: Path
    seen: Seen
    given: Given


async def populate(folder: Path) -> list[Original]:
    """The directory after a clean end, and as a kill leaves it, half of it in the WAL."""
    site = Site(folder)
    site.synchronous = "FULL"
    async with site.opened():
        gated = [await site.submit(workflow_source=GATED) for _ in range(2)]
        for order_id in gated:
            await site.until(order_id, "waiting")
        completed = await site.submit(title="ä" * 40)
        await site.until(completed, "completed")
        await site.until(await site.submit(script=FAILING), "failed")
        given = await one_of_each.write(site.house.store, completed)
        await credentials.keep(site.context, "ANTHROPIC_API_KEY", "sk-ant-Tz81vQ0aXm4wLr7e")
        await site.house.context.backlog.settled()
        await site.stop()
        shutil.copytree(site.home, folder / "closed")
        await site.start()
        await site.until(await site.submit(script=LATER), "waiting")
        await site.until(await site.submit(script=FAILING), "failed")
        await site.house.context.backlog.settled()
        await asyncio.sleep(0.3)
        shutil.copytree(site.home, folder / "killed")
    homes = (folder / "closed", folder / "killed")
    return [Original(home, await observe(home, given), given) for home in homes]


async def observe(home: Path, given: Given) -> Seen:
    """What people see, order by order and table by table. The directory is left as it was."""
    with tempfile.TemporaryDirectory(prefix="awo-flip-") as name:
        copy = Path(name, "home")
        take(home, copy)
        seen, _ = await look(copy, given)
    return seen


def take(home: Path, copy: Path) -> None:
    copy.mkdir()
    for one in FILES:
        if (home / one).exists():
            shutil.copyfile(home / one, copy / one)
            (copy / one).chmod(0o600)
    os.symlink(home / "mirrors", copy / "mirrors")


async def look(home: Path, given: Given) -> tuple[Seen, str]:
    """What is seen after a start, and the code of a refusal to start."""
    settings = load({"AWO_DRAIN_S": "0"}, home=home)
    try:
        async with open_house(settings, takes=lambda _order: False) as house:
            seen = await _seen(house.context, house.store)
            return seen | await one_of_each.read(house.store, given), ""
    except AgentWorkOrdersError as error:
        if not error.hint:
            raise
        return {}, error.code


async def _seen(context: Any, store: Any) -> Seen:
    seen: Seen = {}
    page = await inspect.page(context, LOCAL_OPERATOR, OrderFilter(), limit=500)
    for line in page.agent_work_orders:
        order_id = line.agent_work_order_id
        try:
            # As `inspect.show`, without git, which no bit here concerns.
            row = await find.record_of(context, order_id, LOCAL_OPERATOR)
            run = await find.run_of(context, row.agent_work_order_id)
            shown = projection.record(run, row.run_seq)
            tasks = await inspect.tasks(context, order_id, LOCAL_OPERATOR)
            asked = await approvals.of_order(context, order_id, LOCAL_OPERATOR)
            beside = [
                *await _beside(context, store, order_id),
                *await context.store.ledger.entries(order_id),
            ]
        except AgentWorkOrdersError as error:
            seen[order_id] = f"named: {error.code}"
            continue
        if line.error_code in ("row_damaged", "run_quarantined"):
            seen[order_id] = f"named: {line.error_code}"
            continue
        seen[order_id] = [_plain(line), _plain(shown), tasks, msgspec.to_builtins([asked, beside])]
    return seen


async def _beside(context: Any, store: Any, order_id: str) -> list[Any]:
    """What the product itself wrote about an order, apart from its events."""
    log = (await context.store.logbook.page(order_id, limit=500)).log_entries
    audit = await context.store.audit.page(order_id=order_id, limit=500)
    artifacts = await inspect.artifacts(context, order_id, LOCAL_OPERATOR)
    return [log, audit, artifacts, await store.branches.get(order_id)]


def _plain(record: Any) -> dict[str, Any]:
    return {name: value for name, value in msgspec.to_builtins(record).items() if name not in TIMES}


def flip(home: Path, seed: int) -> str:
    """Turn one bit over; says where."""
    chance = random.Random(seed)
    files = [home / name for name in FILES[:2] if (home / name).exists()]
    weights = [one.stat().st_size for one in files]
    [file] = chance.choices(files, weights)
    at, bit = chance.randrange(file.stat().st_size), chance.randrange(8)
    with file.open("r+b") as opened:
        opened.seek(at)
        byte = opened.read(1)[0]
        opened.seek(at)
        opened.write(bytes([byte ^ (1 << bit)]))
    return f"seed {seed}: bit {bit} of byte {at} of {file.name} in {home.name}"


async def judge(
    originals: list[Original], seed: int, spoil: Callable[[Path, int], str] = flip
) -> tuple[str, str]:
    """("same" | "named" | "refused" | "failed", why)."""
    original = originals[seed % len(originals)]
    with tempfile.TemporaryDirectory(prefix="awo-flip-") as name:
        copy = Path(name, "home")
        take(original.home, copy)
        where = spoil(copy, seed)
        try:
            with _ending():
                found = [one async for one in store_checkup.examine(copy) if one.status == "error"]
                seen, refused = await look(copy, original.given)
        except Exception as error:  # noqa: BLE001 - whatever comes out is the finding
            return "failed", f"{where}: {type(error).__name__}: {error}"
    if refused:
        return ("refused", "") if found else ("failed", f"{where}: refused with {refused} only")
    changed = [one for one, before in original.seen.items() if seen.get(one) != before]
    silent = [one for one in changed if not str(seen.get(one)).startswith("named")]
    if silent and not found:
        return "failed", f"{where}: {silent} changed and nobody says so"
    return ("named", "") if found or changed else ("same", "")


@contextmanager
def _ending() -> Iterator[None]:
    """What never ends is a failure too. In time of the processor: the machine may be busy."""

    def interrupt(_signal: int, _frame: object) -> None:
        raise TimeoutError(f"no end after {MOST_S} s")

    before = signal.signal(signal.SIGVTALRM, interrupt)
    signal.setitimer(signal.ITIMER_VIRTUAL, MOST_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def campaign(folder: Path, seeds: Iterable[int]) -> tuple[dict[str, int], list[str]]:
    """How often each verdict was given, and every failure."""

    async def run() -> tuple[dict[str, int], list[str]]:
        originals = await populate(folder)
        tally: dict[str, int] = {}
        told: list[str] = []
        for seed in seeds:
            verdict, why = await judge(originals, seed)
            tally[verdict] = tally.get(verdict, 0) + 1
            told += [why] if why else []
        return tally, told

    return asyncio.run(run())
