"""Running a person's program in an order's sandbox, as the order's own user.

Where the order has a sandbox and nobody works in it, the program runs there, and what it changes is
what the next task finds. Where there is none any more (the order ended, or it was removed), one is
made for this program alone, of what is kept of the order's work, and goes with it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import msgspec

from agent_work_orders.errors import BadRequest, Conflict
from agent_work_orders.sandbox_manager.sandbox import (
    Attachable,
    Execution,
    Output,
    Sandbox,
    sandbox_name,
)
from agent_work_orders.sandbox_manager.terminal import Terminal
from agent_work_orders.security.roles import Caller
from agent_work_orders.state_manager.records import OrderRecord
from agent_work_orders.tools.workspaces import spec_of
from agent_work_orders.work_orders import find, inspect, sandboxes
from agent_work_orders.work_orders.context import Context, LiveContext
from agent_work_orders.work_orders.order_facts import facts_of
from agent_work_orders.work_orders.submit import check_text

PART = "person"
"""Of sandboxes that are made for one program."""
ARGUMENTS = 1_000
ARGUMENT_CHARS = 65_536
TIMEOUT_S = 300.0
LONGEST_S = 86_400.0
AUDITED_CHARS = 500
SHELL = ("sh", "-c", "command -v bash >/dev/null && exec bash -i; exec sh -i")


class Inside(msgspec.Struct, frozen=True, kw_only=True):
    """Where a program may run now."""

    sandbox: Sandbox
    order_id: str
    temporary: bool
    """Made for it, and removed after it."""

    async def run(self, argv: Sequence[str], timeout_s: float, output: Output) -> Execution:
        return await self.sandbox.execute(list(argv), timeout_s=timeout_s, on_output=output)

    async def attach(
        self, argv: Sequence[str], terminal: Terminal, kind: str, timeout_s: float
    ) -> Execution:
        """With a person at its terminal, of a kind as in TERM. Conflict `terminal_unavailable`."""
        if not isinstance(self.sandbox, Attachable):
            raise Conflict(
                "terminal_unavailable",
                f"A sandbox of type {self.sandbox.sandbox_type} gives no terminal",
                hint="Run one program in it, which needs none (`exec`).",
            )
        return await self.sandbox.attach(
            list(argv), terminal.program_end, env={"TERM": kind}, timeout_s=timeout_s
        )


@asynccontextmanager
async def entered(
    context: LiveContext, wanted: str, caller: Caller, argv: Sequence[str]
) -> AsyncIterator[Inside]:
    """The sandbox of an order, to run `argv` in while nobody else changes it.

    Conflict `sandbox_in_use` while a task or another person works in it, `sandbox_not_made` before
    the order has begun; BadRequest `argv_invalid`, `text_invalid`.
    """
    row = await _order_of(context, wanted, caller)
    caller.need("operate")
    check_argv(argv)
    order_id, locks = row.agent_work_order_id, context.sandboxes.locks
    if locks.users(order_id):
        raise sandboxes.in_use(f"the sandbox of {order_id}")
    async with locks.shared(order_id):
        sandbox = await context.workspaces.sandbox(order_id)
        if sandbox is not None:
            await _audit(context, caller, order_id, argv)
            yield Inside(sandbox=sandbox, order_id=order_id, temporary=False)
            return
    async with _made(context, row, caller) as sandbox:
        await _audit(context, caller, order_id, argv)
        yield Inside(sandbox=sandbox, order_id=order_id, temporary=True)


def check_argv(argv: Sequence[str]) -> None:
    if not argv or not argv[0] or len(argv) > ARGUMENTS:
        raise BadRequest(
            "argv_invalid",
            f"A program is needed, with at most {ARGUMENTS} arguments",
            hint="Each argument for itself, as in `awo sandbox exec ORDER git status`; a line for "
            "a shell is an argument of `sh -c`.",
            field="argv",
        )
    for one in argv:
        check_text("argv", one, ARGUMENT_CHARS)


async def _order_of(context: Context, wanted: str, caller: Caller) -> OrderRecord:
    """By the order, or by the identifier of its sandbox."""
    if "-wo-" not in wanted:
        return await find.record_of(context, wanted, caller)
    record, row = await sandboxes.record_of(context, wanted, caller)
    if row is None or record.part:
        raise sandboxes.unknown(wanted)
    return row


@asynccontextmanager
async def _made(context: LiveContext, row: OrderRecord, caller: Caller) -> AsyncIterator[Sandbox]:
    order_id, locks = row.agent_work_order_id, context.sandboxes.locks
    entry = await context.store.ledger.find(f"{order_id}:base")
    _, work = await inspect.work(context, order_id, caller)
    if work is None or entry is None or entry.receipt is None:
        raise Conflict(
            "sandbox_not_made",
            f"{order_id} has not begun: it has no sandbox yet, and nothing to make one of",
            hint=f"`awo show {order_id}` says what it waits for.",
        )
    name = sandbox_name(order_id, PART)
    if locks.users(name):
        raise sandboxes.in_use(f"the sandbox that was made for a program of {order_id}")
    facts = facts_of(await find.run_of(context, order_id))
    async with locks.alone(name):
        sandbox = context.sandboxes.open(spec_of(facts, entry.receipt, work.head, PART))
        await sandbox.cleanup()
        try:
            await sandbox.setup()
            if work.sha != work.head:
                await sandbox.checkout(work.head, files=work.sha)
            yield sandbox
        finally:
            await sandbox.cleanup()


async def _audit(context: LiveContext, caller: Caller, order_id: str, argv: Sequence[str]) -> None:
    said = context.redact(" ".join(argv))
    await context.store.audit.append(
        at_ms=context.clock.now_ms(),
        who=caller.name,
        what="sandbox.exec",
        order_id=order_id,
        details={"argv": said[:AUDITED_CHARS]},
    )
