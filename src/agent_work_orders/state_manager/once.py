"""Writing to the world exactly once, with the ledger: intent, write, receipt."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from agent_work_orders.clock import Clock
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
    """With a receipt: return it. With an intent but no receipt (a crash, a lost answer): `look`
    at the world and adopt what is found. Else record the intent, `do`, record the receipt.

    `clean` takes secrets out of what is kept. Two callers with one key at the same time must be
    kept apart by the caller: the ledger records, it does not lock.
    """
    entry = await ledger.find(key)
    if entry is not None and entry.receipt is not None:
        return entry.receipt
    found = None
    if entry is None:
        await ledger.intend(key, order_id=order_id, what=what, intent=intent, at_ms=clock.now_ms())
    else:
        found = await look()
    receipt = clean(found if found is not None else await do())
    kept = await ledger.receive(key, receipt, at_ms=clock.now_ms())
    return kept.receipt if kept.receipt is not None else receipt
