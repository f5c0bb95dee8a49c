"""Rows of every table, written and read by the ways that users have."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from agent_work_orders.errors import AgentWorkOrdersError
from agent_work_orders.state_manager.approvals import ApprovalRecord
from agent_work_orders.state_manager.branches import Branch
from agent_work_orders.state_manager.credentials import KeptCredential
from agent_work_orders.state_manager.journal import Commit, EffectRow, EventRow, TimerRow
from agent_work_orders.state_manager.records import OrderRecord
from agent_work_orders.state_manager.sqlite.store import SqliteStore
from agent_work_orders.state_manager.subjects import OrderSubject

CALLER, KEY = "key-ann", "once-and-once-only"
LATE_MS = 4_000_000_000_000
"""Old keys are forgotten at a start."""
CHANGING = ("last_used_at_ms", "used_at_ms", "has_more", "total_count")


class Given(msgspec.Struct, frozen=True):
    order_id: str
    token: str
    secret: str


async def write(store: SqliteStore, order_id: str) -> Given:
    """Everything that the store keeps, for one order. Nothing of it is in the journal's list."""
    key, token = await store.keys.create("ann", "operator", repositories=["h/o/n"])
    _, secret = await store.sessions.create(key.key_id)
    await store.approvals.ask(
        ApprovalRecord(
            approval_id=f"{order_id}:gate:1", order_id=order_id, run_id=order_id, path="gate",
            message="Go on?", subject={"a": 1}, subject_hash="h", asked_at_ms=1,
        )
    )  # fmt: skip
    await store.branches.keep(
        Branch(order_id=order_id, repository="h/o/n", base_sha="a" * 40, head_sha="b" * 40)
    )
    await store.subjects.add(
        OrderSubject(
            order_id=order_id, repository_id=7, subject="issue:7", purpose="run",
            asked_by="1:ann", at_ms=1,
        )
    )  # fmt: skip
    await store.deliveries.take("guid-handled", "issues", b'{"action": "opened"}', 1)
    [one] = await store.deliveries.waiting()
    await store.deliveries.settle(one.n, "handled", "made an order", 2)
    await store.deliveries.take("guid-waiting", "ping", b'{"zen": "keep it"}', 3)
    await store.idempotency.claim(CALLER, KEY, body_hash="h1", order_id=order_id, at_ms=LATE_MS)
    for name in ("push", "comment"):
        await store.ledger.intend(
            f"{order_id}:{name}", order_id=order_id, what="test.write", intent={"n": 1}, at_ms=1
        )
    await store.ledger.receive(f"{order_id}:push", {"commit": "c" * 40}, at_ms=2)
    await store.audit.append(at_ms=1, who="ann", what="test.done", order_id=order_id, target="it")
    store.logbook.add(order_id, at_ms=1, level="info", event="task_done", fields={"path": "x"})
    store.feed.publish(order_id, "log", 1, b'{"event": "task_done"}')
    store.quota.save("app:1", '{"credential": "app:1"}')
    await store.quota.settle()
    await store.versions.save(
        "kept", hash="e" * 8, source="name: kept", plan=b"{}", created_by="ann", origin="user",
        at_ms=1,
    )  # fmt: skip
    await store.artifacts.put(order_id, "plan", "plan.md", b"# the plan", "text/markdown", 1)
    return Given(order_id, token, secret)


async def write_order(store: SqliteStore, order_id: str) -> None:
    """A run with an outbox, its line in the list, and a credential."""
    event = EventRow(run_id=order_id, seq=1, at_ms=1, kind="test", body=b"{}")
    await store.journal.append(
        Commit(
            run_id=order_id, events=(event,),
            effects=(EffectRow(run_id=order_id, effect_id="perform:x:1", body=b"{}"),),
            set_timers=(TimerRow(run_id=order_id, timer="t", at_ms=5),), owed=(1, 1),
        )
    )  # fmt: skip
    await store.records.upsert(line(order_id, "running"))
    await store.credentials.put(
        KeptCredential(name="token", sealed=b"sealed", last4="1234", changed_at_ms=1)
    )


def line(order_id: str, status: str) -> OrderRecord:
    return OrderRecord(
        agent_work_order_id=order_id, repository_url="https://h/o/n", repository="h/o/n",
        sandbox_type="git_branch", workflow_type="w", workflow_version="v", status=status,
        created_by="ann", created_at_ms=1, updated_at_ms=1, run_seq=1, cost_usd=1,
    )  # fmt: skip


async def read(store: SqliteStore, given: Given) -> dict[str, Any]:
    """What is seen of each table: values, or `named: <code>` for a refusal."""
    asked: dict[str, Callable[[], Awaitable[Any]]] = {
        "api_keys": lambda: _both(lambda: store.keys.authenticate(given.token), store.keys.all),
        "approvals": lambda: store.approvals.of_order(given.order_id),
        "artifacts": lambda: store.artifacts.list(given.order_id),
        "audit": lambda: store.audit.page(order_id=given.order_id),
        "branches": lambda: _both(lambda: store.branches.get(given.order_id), store.branches.all),
        "credentials": store.credentials.all,
        "deliveries": lambda: _both(lambda: store.deliveries.page(), store.deliveries.waiting),
        "feed": lambda: store.feed.after(0, order_id=given.order_id),
        "idempotency_keys": lambda: store.idempotency.claim(
            CALLER, KEY, body_hash="h1", order_id="wo-second", at_ms=9
        ),
        "ledger": lambda: store.ledger.entries(given.order_id),
        "ledger by key": lambda: store.ledger.find(f"{given.order_id}:push"),
        "ledger open": lambda: store.ledger.unreceived("test.write"),
        "log_entries": lambda: store.logbook.page(given.order_id),
        "order_subjects": lambda: store.subjects.of_order(given.order_id),
        "orders": lambda: store.records.get(given.order_id),
        "quota": store.quota.load,
        "runs": lambda: store.journal.load_run(given.order_id),
        "sessions": lambda: store.sessions.authenticate(given.secret),
        "subjects": lambda: store.subjects.about(7),
        "workflow_versions": lambda: store.versions.latest("kept"),
    }
    seen = {}
    for table, ask in asked.items():
        try:
            seen[table] = _steady(msgspec.to_builtins(await ask()))
        except AgentWorkOrdersError as error:
            seen[table] = f"named: {error.code}"
    return seen


async def _both(
    one: Callable[[], Awaitable[Any]], other: Callable[[], Awaitable[Any]]
) -> tuple[Any, Any]:
    return await one(), await other()


def _steady(value: Any) -> Any:
    """Without what using it changes."""
    if isinstance(value, dict):
        return {name: _steady(one) for name, one in value.items() if name not in CHANGING}
    return [_steady(one) for one in value] if isinstance(value, list | tuple) else value
