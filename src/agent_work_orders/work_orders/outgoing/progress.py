"""The observer that keeps people on the hub informed: one comment, one check, reactions, answers.

What an order shows is drawn from its whole run and compared with what is there (view.py): a
crash, a burst of changes or an hour without quota end in the same view. What is said in answer
to a command is an intent in the ledger first. So nothing is lost, and nothing is said twice:

- A comment or check is created through `once`, and found again by its key after a lost answer.
- Editing says what should be; repeating it is harmless.
- An intent `PROGRESS` stands for each order until its last view was shown, and another one for
  each time that it is opened again; a restart takes up those, and the orders that are open.

Nobody waits for it. What cannot be sent now is sent later: after the time that the quota names, or
with growing pauses; what is refused for good is given up and logged. So is, after `TRIES`, what
lacks a permission, unless the order goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import msgspec

from agent_work_orders.engines.engine import Change
from agent_work_orders.errors import AgentWorkOrdersError, Environmental
from agent_work_orders.github_integration.forge import Hub, Reaction, Repository
from agent_work_orders.github_integration.quota import QuotaHeld
from agent_work_orders.state_manager.ledger import Entry
from agent_work_orders.work_orders.context import LiveContext
from agent_work_orders.work_orders.order_facts import facts_of
from agent_work_orders.work_orders.outgoing.progress_view import draw
from agent_work_orders.work_orders.outgoing.progress_writer import (
    FAILED,
    PostedProgress,
    Subject,
    may_pass,
)
from agent_work_orders.work_orders.outgoing.replies import Conversation
from agent_work_orders.workflow_engine.run import Run

PROGRESS, SAY, REACT = "github.progress", "github.say", "github.react"
EVERY_MS = 5_000
"""Between two edits of one order's comment; the last view does not wait."""
FIRST_PAUSE_MS = 2_000
LONGEST_PAUSE_MS = 300_000
TRIES = 5
"""Of what lacks something that only people can give, with pauses from ten minutes on."""
AT_ONCE = 8
"""Different things, that is: each of them is several requests of a fraction of a second."""


class ProgressReporter:
    def __init__(self, context: LiveContext) -> None:
        self._context = context
        self._runs: dict[str, Run] = {}
        self._shown: dict[str, PostedProgress] = {}
        self._due: dict[str, int] = {}
        """When to do what, by the key of its intent."""
        self._failures: dict[str, int] = {}
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    # -- hearing

    def observe(self, change: Change) -> None:
        """Called by the engine after each commit."""
        run = change.after
        hub = self._context.forges.hub
        if hub is not None and run.parent is None and facts_of(run).github is not None:
            key = f"{run.run_id}:progress"
            self._runs[run.run_id] = run
            shown = self._shown.get(run.run_id)
            soon_ms = 0 if shown is None or run.stage == "ended" else shown.at_ms + EVERY_MS
            if run.stage == "ended":
                self._failures.pop(key, None)  # the last view has tries of its own
            self._plan(key, soon_ms)

    async def say(self, conversation: Conversation, key: str, text: str) -> None:
        await self._intend(f"say:{key}", SAY, conversation, {"text": text})

    async def react(
        self,
        conversation: Conversation,
        comment_id: int | None,
        reaction: Reaction,
        *,
        on_a_line: bool = False,
    ) -> None:
        about = comment_id if comment_id is not None else f"#{conversation.number}"
        line = "line:" if on_a_line else ""
        key = f"react:{conversation.repository_id}:{line}{about}:{reaction}"
        said = {"comment_id": comment_id, "reaction": reaction, "on_a_line": on_a_line}
        await self._intend(key, REACT, conversation, said)

    # -- life

    async def start(self, open_runs: Iterable[str]) -> None:
        """Take up what an earlier process left; then work. Without a hub there is nothing to do."""
        if self._context.forges.hub is None:
            return
        ledger = self._context.store.ledger
        for what in (SAY, REACT, PROGRESS):
            for entry in await ledger.unreceived(what):
                # The intent of an order has another key for each time it was opened again.
                key = f"{entry.order_id}:progress" if what == PROGRESS else entry.key
                self._due[key] = 0
        for run_id in open_runs:
            with suppress(AgentWorkOrdersError):
                run = await self._context.runs.run(run_id)
                if run is not None and run.parent is None and facts_of(run).github is not None:
                    self._due[f"{run_id}:progress"] = 0
        self._task = asyncio.get_running_loop().create_task(self._work())

    async def finish(self, patience_s: float = 5.0) -> None:
        """Say what can be said at once; the rest is for the next start."""
        if self._task is None:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(patience_s):
                await self._idle.wait()
        self._task.cancel()
        await asyncio.wait([self._task])

    async def _work(self) -> None:
        while True:
            self._wake.clear()
            if await self.sweep():
                continue
            self._idle.set()
            now_ms = self._context.clock.now_ms()
            next_ms = min(self._due.values(), default=now_ms + LONGEST_PAUSE_MS)
            with suppress(TimeoutError):
                async with asyncio.timeout(max(0.0, (next_ms - now_ms) / 1000)):
                    await self._wake.wait()

    async def sweep(self) -> bool:
        """Do everything that is due; whether there was anything."""
        now_ms = self._context.clock.now_ms()
        left = {key for key, at in self._due.items() if at <= now_ms}
        found = bool(left)
        while left:
            # Answers first, also those that were asked for meanwhile.
            left |= {key for key, at in self._due.items() if at == 0}
            urgent = sorted(left, key=lambda key: (key.endswith(":progress"), self._due[key], key))
            left -= set(urgent[:AT_ONCE])
            await asyncio.gather(*(self._attend(key) for key in urgent[:AT_ONCE]))
            left &= self._due.keys()
        return found

    async def _attend(self, key: str) -> None:
        """One thing; whatever happens, it is gone from the list or has a later time."""
        started_ms = self._context.clock.now_ms()
        self._due[key] = started_ms + LONGEST_PAUSE_MS
        try:
            done = await self._do(key)
        except QuotaHeld as held:
            self._due[key] = held.until_ms
            return
        except Exception as error:  # noqa: BLE001 - telling people must not end for one of them
            done = await self._failed(key, error)
        if done:
            self._failures.pop(key, None)
            # Not when it was asked for again meanwhile.
            if self._due.get(key) == started_ms + LONGEST_PAUSE_MS:
                del self._due[key]

    async def _failed(self, key: str, error: Exception) -> bool:
        """Whether it is given up."""
        count = self._failures[key] = self._failures.get(key, 0) + 1
        code, level, given_up = type(error).__name__, "error", False
        if isinstance(error, AgentWorkOrdersError):
            code, given_up = error.code, not may_pass(error)
            level = "error" if given_up else "warning"
        lacking, over = isinstance(error, Environmental), self._is_over(key)
        if not lacking or count == 1:
            fields = {"key": key, "error": str(error), "code": code}
            self._context.log(_order_of(key), FAILED, level, fields)
        given_up = given_up or (lacking and over and count >= TRIES)
        if given_up:
            await self._give_up(key, code)
            return True
        pause_ms = min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** min(count, 20))
        if lacking and over:
            pause_ms = LONGEST_PAUSE_MS * 2**count
        self._due[key] = self._context.clock.now_ms() + pause_ms
        return False

    def _is_over(self, key: str) -> bool:
        """Whether no further change will ask for it again."""
        run = self._runs.get(_order_of(key))
        return run is None or run.stage == "ended"

    async def _give_up(self, key: str, code: str) -> None:
        """The intent of an order that goes on stays: its next change is shown if it can be."""
        order_id = _order_of(key)
        if not order_id:
            await self._settle(key, {"given_up": code})
        elif self._is_over(key):
            await self._close(order_id, {"given_up": code})

    # -- doing

    async def _do(self, key: str) -> bool:
        if key.endswith(":progress"):
            return await self._show(_order_of(key))
        entry = await self._context.store.ledger.find(key)
        if entry is not None and entry.receipt is None:
            await self._settle(key, await self._utter(entry))
        return True

    async def _utter(self, entry: Entry) -> dict[str, Any]:
        hub, said = self._hub(), entry.intent
        repository = msgspec.convert(said["repository"], Repository)
        number = int(said["number"])
        if entry.what == SAY or said["comment_id"] is not None:
            hub = hub.asking("person")  # who commented looks for an answer
        if entry.what == REACT:
            line = bool(said.get("on_a_line"))
            about = said["comment_id"]
            await hub.react(repository, number, said["reaction"], about, on_a_line=line)
            return {}
        found = await hub.find_comment(repository, number, entry.key)
        made = found or await hub.add_comment(repository, number, said["text"], entry.key)
        return {"comment_id": made.comment_id}

    async def _show(self, order_id: str) -> bool:
        context = self._context
        run = self._runs.get(order_id) or await context.runs.run(order_id)
        if run is None:
            await self._close(order_id, {"given_up": "run_unknown"})
            return True
        run = self._runs.setdefault(order_id, run)
        order = facts_of(run)
        subject = msgspec.convert(order.github, Subject, strict=False)
        hub, repository = context.forges.hub_at(order.repository, order.repository_url)
        await self._open(order_id)
        view = draw(
            run,
            order_url=context.policy.order_url(order_id),
            queue_until_ms=context.runs.held_until_ms(order_id),
        )
        shown = self._shown.setdefault(order_id, PostedProgress(context, order_id))
        shown.at_ms = context.clock.now_ms()
        if shown.is_detail(view) or f"{order_id}:progress" in self._failures:
            hub = hub.asking("background")
        await shown.bring(hub, repository, subject, view)
        if view.over and self._runs.get(order_id) is run:
            await self._close(order_id, {"state": view.state})
        return True

    # -- the ledger

    async def _open(self, order_id: str) -> None:
        """An open intent for this life of the order, whichever it is: those before have theirs."""
        known = await self._progress(order_id)
        if all(entry.receipt is not None for entry in known):
            again = f":{len(known) + 1}" if known else ""
            await self._begin(f"{order_id}:progress{again}", PROGRESS, order_id, {})

    async def _close(self, order_id: str, receipt: dict[str, Any]) -> None:
        # First, so that what comes meanwhile is kept.
        self._runs.pop(order_id, None)
        self._shown.pop(order_id, None)
        for entry in await self._progress(order_id):
            if entry.receipt is None:
                await self._settle(entry.key, receipt)

    async def _progress(self, order_id: str) -> list[Entry]:
        entries = await self._context.store.ledger.entries(order_id)
        return [entry for entry in entries if entry.what == PROGRESS]

    async def _intend(
        self, key: str, what: str, conversation: Conversation, more: dict[str, Any]
    ) -> None:
        intent = {
            "repository": msgspec.to_builtins(conversation.repository),
            "number": conversation.number,
            **more,
        }
        if self._context.forges.hub is not None and await self._begin(key, what, "", intent):
            self._plan(key, 0)

    async def _begin(self, key: str, what: str, order_id: str, intent: dict[str, Any]) -> bool:
        entry = await self._context.store.ledger.intend(
            key, order_id=order_id, what=what, intent=intent, at_ms=self._context.clock.now_ms()
        )
        return entry.receipt is None

    async def _settle(self, key: str, receipt: dict[str, Any]) -> None:
        if await self._context.store.ledger.find(key) is not None:
            await self._context.store.ledger.receive(
                key, receipt, at_ms=self._context.clock.now_ms()
            )

    def _plan(self, key: str, at_ms: int) -> None:
        self._due[key] = at_ms
        self._idle.clear()
        self._wake.set()

    def _hub(self) -> Hub:
        hub = self._context.forges.hub
        assert hub is not None, "a reporter without a hub has nothing to report to"
        return hub


def _order_of(key: str) -> str:
    """Whose view is meant; "" for an answer."""
    return key.removesuffix(":progress") if key.endswith(":progress") else ""
