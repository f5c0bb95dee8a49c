"""The product as a process of its own, spoken to over its standard streams, one JSON per line.

What is different from `awo up`: no HTTP, and what the environment asks this script to break.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import crash_points
import msgspec

from agent_work_orders.bootstrap import House, open_house
from agent_work_orders.errors import AgentWorkOrdersError
from agent_work_orders.observability import logs
from agent_work_orders.security.roles import LOCAL_OPERATOR
from agent_work_orders.settings import changed, load
from agent_work_orders.state_manager.ledger import Entry
from agent_work_orders.state_manager.sqlite import database
from agent_work_orders.state_manager.sqlite.ledger import SqliteLedger
from agent_work_orders.work_orders import inspect, submit


def break_something(what: str) -> None:
    """The mutations: the campaign must notice each of them."""
    if what == "no intent":

        async def intend(self: SqliteLedger, key: str, **facts: Any) -> Entry:
            facts["intended_at_ms"] = facts.pop("at_ms")
            return Entry(key=key, **facts)

        async def receive(self: SqliteLedger, key: str, receipt: Any, *, at_ms: int) -> Entry:
            await _intend(self, key, order_id="", what="", intent={}, at_ms=at_ms)
            return await _receive(self, key, receipt, at_ms=at_ms)

        _intend, _receive = SqliteLedger.intend, SqliteLedger.receive
        SqliteLedger.intend = intend  # type: ignore[method-assign]
        SqliteLedger.receive = receive  # type: ignore[method-assign]
    elif what == "no fsync":
        connect = database.connect

        def careless(*args: Any, **kwargs: Any) -> Any:
            connection = connect(*args, **kwargs)
            connection.execute("PRAGMA synchronous = OFF")
            return connection

        for module in list(sys.modules.values()):
            if getattr(module, "connect", None) is connect:
                module.connect = careless  # type: ignore[attr-defined]
    elif what:
        raise SystemExit(f"nothing is called {what!r}")


async def answer(house: House, asked: dict[str, Any]) -> dict[str, Any]:
    context = house.context
    match asked["verb"]:
        case "submit":
            new = msgspec.convert(asked["order"], submit.NewOrder)
            try:
                made = await submit.submit(context, new, LOCAL_OPERATOR)
            except AgentWorkOrdersError as error:
                return {"refused": error.code, "message": error.message}
            return {"order": made.agent_work_order_id}
        case "open":
            return {"open": len(await house.engine.open_runs()), "health": house.engine.health()}
        case "look":
            row = await context.store.records.get(asked["order"])
            run = await house.engine.run(asked["order"])
            if row is None or run is None:
                return {"missing": True, "record": row is not None, "run": run is not None}
            shown = await inspect.show(context, asked["order"], LOCAL_OPERATOR)
            return {
                "status": shown.record.status,
                "listed": row.status,
                "branch": shown.record.git_branch_name,
                "error": shown.record.error_code,
                "tasks": await inspect.tasks(context, asked["order"], LOCAL_OPERATOR),
            }
        case "verify":
            return {
                "journal": [broken.reason for broken in await house.store.journal.verify()],
                "audit": msgspec.to_builtins(await house.store.audit.verify()),
                "fds": len(os.listdir("/proc/self/fd")),
            }
    raise SystemExit(f"what is {asked}?")


async def serve(house: House) -> None:
    """Until the input ends or SIGTERM comes."""
    loop, reader, lock = asyncio.get_running_loop(), asyncio.StreamReader(), asyncio.Lock()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    stop = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    say({"n": 0, "pid": os.getpid(), "fds": len(os.listdir("/proc/self/fd"))})
    working: set[asyncio.Task[None]] = set()

    async def one(line: bytes) -> None:
        asked = msgspec.json.decode(line)
        told = await answer(house, asked)
        async with lock:
            say({"n": asked["n"], **told})

    async def listen() -> None:
        while line := await reader.readline():
            task = loop.create_task(one(line))
            working.add(task)
            task.add_done_callback(working.discard)
        stop.set()

    listening = loop.create_task(listen())
    await stop.wait()
    listening.cancel()


def say(told: dict[str, Any]) -> None:
    sys.stdout.write(msgspec.json.encode(told, enc_hook=str).decode() + "\n")
    sys.stdout.flush()


async def main(home: Path) -> None:
    logs.configure(level="error", pretty=False, redact=lambda text: text)
    # Explicit: the campaign must not depend on what a person set in the environment.
    settings = changed(
        load({}, home=home),
        {
            "limits.running_tasks": 8,
            "limits.orders_per_repository": 8,
            "server.drain_s": float(os.environ.get("CRASH_DRAIN_S", "20")),
        },
    )
    try:
        async with open_house(settings) as house:
            await serve(house)
    except AgentWorkOrdersError as error:
        say({"n": 0, "refused": error.code, "message": error.message})
        raise SystemExit(3) from None


if __name__ == "__main__":
    break_something(os.environ.get("CRASH_MUTATION", ""))
    if os.environ.get("CRASH_AT"):
        crash_points.install(os.environ["CRASH_AT"])
    asyncio.run(main(Path(sys.argv[1])))
