"""Writing to the world exactly once, with the ledger: intent, write, receipt."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from agent_work_orders.clock import Clock
from agent_work_orders.errors import Transient, Unknown
from agent_work_orders.state_manager.ledger import Ledger

Receipt = dict[str, Any]
Look = Callable[[], Awaitable[Receipt | None]]
Do = Callable[[], Awaitable[Receipt]]


async def once(
    ledger: Ledger,
    clock: Clock,
    key: str,
    *,
    order_id: str,
    what: str,
    intent: Receipt,
    look: Look,
    do: Do,
    clean: Callable[[Receipt], Receipt] = lambda receipt: receipt,
) -> Receipt:
    """With a receipt: return it. With an intent but no receipt (a crash, a lost answer), or when
    the ledger is damaged: `look` at the world and adopt what is found. Else record the intent,
    `do`, record the receipt. When the answer of `do` is lost, the world is looked at too: what is
    not there did not happen, and is Transient `write_lost`, to be tried again. A `look` that
    cannot tell must raise.

    `clean` takes secrets out of what is kept. Two callers with one key at the same time must be
    kept apart by the caller: the ledger records, it does not lock.
    """
    entry = await ledger.find(key)
    if entry is not None and entry.receipt is not None:
        return entry.receipt
    if entry is None:
        await ledger.intend(key, order_id=order_id, what=what, intent=intent, at_ms=clock.now_ms())
    found = await look() if entry is not None or ledger.doubted else None
    receipt = clean(found if found is not None else await _done(what, look, do))
    kept = await ledger.receive(key, receipt, at_ms=clock.now_ms())
    return kept.receipt if kept.receipt is not None else receipt


async def _done(what: str, look: Look, do: Do) -> Receipt:
    try:
        return await do()
    except Unknown as lost:
        found = await look()
        if found is not None:
            return found
        raise Transient(
            "write_lost",
            f"The answer was lost ({what}), and nothing of it is there: {lost.message}",
            hint="It is tried again, after another look.",
        ) from lost
