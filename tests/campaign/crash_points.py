"""Where the campaign kills the product: the lines between a write and what it rests on.

`install` wraps the product's own methods from outside, in the child process only, before anything
is opened. `<method> before:<k>` kills at the k-th call, `after` when it has been done and nobody
knows yet, `during` while it is under way.
"""

from __future__ import annotations

import asyncio
import functools
import os
import signal
from collections.abc import Callable
from typing import Any

from agent_work_orders.github_integration.local_forge import LocalForge
from agent_work_orders.repositories import push
from agent_work_orders.repositories.mirror import Mirror
from agent_work_orders.repositories.mirrors import Mirrors
from agent_work_orders.sandbox_manager.local.sandbox import LocalSandbox
from agent_work_orders.state_manager.sqlite.branches import SqliteBranches
from agent_work_orders.state_manager.sqlite.idempotency import SqliteIdempotencyKeys
from agent_work_orders.state_manager.sqlite.journal import SqliteJournal
from agent_work_orders.state_manager.sqlite.ledger import SqliteLedger
from agent_work_orders.tools.workspaces import Workspaces

METHODS: dict[str, tuple[Any, str]] = {
    "idempotency.claim": (SqliteIdempotencyKeys, "claim"),
    "journal.append": (SqliteJournal, "append"),
    "branches.keep": (SqliteBranches, "keep"),
    "ledger.intend": (SqliteLedger, "intend"),
    "ledger.receive": (SqliteLedger, "receive"),
    "mirrors.ensure": (Mirrors, "ensure"),
    "sandbox.setup": (LocalSandbox, "setup"),
    "sandbox.checkout": (LocalSandbox, "checkout"),
    "sandbox.execute": (LocalSandbox, "execute"),
    "sandbox.commit": (LocalSandbox, "commit"),
    "sandbox.cleanup": (LocalSandbox, "cleanup"),
    "mirror.set_ref": (Mirror, "set_ref"),
    "mirror.keep": (Mirror, "keep"),
    "push.push": (push, "push"),
    "forge.open_pull_request": (LocalForge, "open_pull_request"),
    "workspaces.close": (Workspaces, "close"),
}
LONG = ("sandbox.setup", "sandbox.execute", "sandbox.commit", "push.push")
"""Those that start programs: worth a kill in the middle."""
POINTS = tuple(
    [f"{name} {when}" for name in METHODS for when in ("before", "after")]
    + [f"{name} during" for name in LONG]
)
DURING_S = 0.02


def install(wanted: str) -> None:
    """`wanted` is `<point>:<k>`."""
    point, _, number = wanted.rpartition(":")
    name, _, when = point.rpartition(" ")
    owner, attribute = METHODS[name]
    original = getattr(owner, attribute)
    countdown = _Countdown(int(number))
    make = _future if name == "journal.append" else _coroutine
    setattr(owner, attribute, functools.wraps(original)(make(original, when, countdown)))


class _Countdown:
    def __init__(self, calls: int) -> None:
        self.left = calls

    def __call__(self) -> bool:
        self.left -= 1
        return self.left == 0


def die(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _coroutine(original: Callable[..., Any], when: str, due: _Countdown) -> Callable[..., Any]:
    async def wrapped(*args: Any, **kwargs: Any) -> Any:
        mine = due()
        if mine and when == "before":
            die()
        if mine and when == "during":
            asyncio.get_running_loop().call_later(DURING_S, die)
        answer = await original(*args, **kwargs)
        if mine:
            die()
        return answer

    return wrapped


def _future(original: Callable[..., Any], when: str, due: _Countdown) -> Callable[..., Any]:
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        mine = due()
        if mine and when == "before":
            die()
        saved = original(*args, **kwargs)
        if mine:
            # The first callback: the engine learns of the commit only after it.
            saved.add_done_callback(die)
        return saved

    return wrapped
