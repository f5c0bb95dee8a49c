"""The observer that keeps people on the hub informed: one comment, one check, reactions, answers.

What an order shows is drawn from its whole run and compared with what is there (picture.py): a
crash, a burst of changes or an hour without quota end in the same picture. What is said in answer
to a command is an intent in the ledger first. So nothing is lost, and nothing is said twice:

- A comment or check is created through `once`, and found again by its key after a lost answer.
- Editing says what should be; repeating it is harmless.
- An intent `PROGRESS` stands for each order until its last picture was shown; a restart takes up
  those, and the orders that are open.

Nobody waits for it. What cannot be sent now is sent later: after the time that the quota names, or
with growing pauses; what is refused for good is given up and logged.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import msgspec

from agent_work_orders.engines.engine import Change
from agent_work_orders.errors import AgentWorkOrdersError, Failed
from agent_work_orders.github_integration.forge import Hub, Reaction, Repository
from agent_work_orders.github_integration.quota import QuotaHeld
from agent_work_orders.state_manager.ledger import Entry
from agent_work_orders.state_manager.once import once
from agent_work_orders.work_orders.picture import Picture, draw, superseded
from agent_work_orders.work_orders.rooms import Rooms
from agent_work_orders.work_orders.voice import Spot
from agent_work_orders.workflow_engine.run import Run

PROGRESS, SAY, REACT = "github.progress", "github.say", "github.react"
EVERY_MS = 5_000
"""Between two edits of one order's comment; the last picture does not wait."""
FIRST_PAUSE_MS = 2_000
LONGEST_PAUSE_MS = 300_000
AT_ONCE = 8
"""Different things, that is: each of them is several requests of a fraction of a second."""
_UNHURRIED = ("running", "waiting")


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """What of `order.github` is needed here."""

    issue: int | None = None
    pull_request: int | None = None
    head_sha: str | None = None

    @property
    def number(self) -> int | None:
        return self.issue if self.issue is not None else self.pull_request


class _Shown(msgspec.Struct):
    """What this process knows to be on the hub."""

    comment: str = ""
    checks: dict[str, tuple[str, str]] = {}
    """By commit: title and conclusion."""
    at_ms: int = 0


class Reporter:
    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms
        self._runs: dict[str, Run] = {}
        self._shown: dict[str, _Shown] = {}
        self._due: dict[str, int] = {}
        """When to do what, by the key of its intent."""
        self._failures: dict[str, int] = {}
        self._unsent: set[str] = set()
        """Writes that were held: these, of one request each, need no look at the world."""
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    # -- hearing

    def observe(self, change: Change) -> None:
        """Called by the engine after each commit."""
        run = change.after
        hub = self._rooms.forges.hub
        if hub is not None and run.parent is None and run.order.get("github") is not None:
            self._runs[run.run_id] = run
            shown = self._shown.get(run.run_id)
            soon_ms = 0 if shown is None or run.stage == "ended" else shown.at_ms + EVERY_MS
            self._plan(f"{run.run_id}:progress", soon_ms)

    async def say(self, spot: Spot, key: str, text: str) -> None:
        await self._intend(f"say:{key}", SAY, spot, {"text": text})

    async def react(self, spot: Spot, comment_id: int | None, reaction: Reaction) -> None:
        about = comment_id if comment_id is not None else f"#{spot.number}"
        key = f"react:{spot.repository_id}:{about}:{reaction}"
        await self._intend(key, REACT, spot, {"comment_id": comment_id, "reaction": reaction})

    # -- life

    async def start(self, open_runs: Iterable[str]) -> None:
        """Take up what an earlier process left; then work. Without a hub there is nothing to do."""
        if self._rooms.forges.hub is None:
            return
        ledger = self._rooms.ledger
        for what in (SAY, REACT, PROGRESS):
            for entry in await ledger.unreceived(what):
                self._due[entry.key] = 0
        for run_id in open_runs:
            with suppress(AgentWorkOrdersError):
                run = await self._rooms.engine.run(run_id)
                if run is not None and run.parent is None and run.order.get("github") is not None:
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
            now_ms = self._rooms.clock.now_ms()
            next_ms = min(self._due.values(), default=now_ms + LONGEST_PAUSE_MS)
            with suppress(TimeoutError):
                async with asyncio.timeout(max(0.0, (next_ms - now_ms) / 1000)):
                    await self._wake.wait()

    async def sweep(self) -> bool:
        """Do everything that is due; whether there was anything."""
        now_ms = self._rooms.clock.now_ms()
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
        started_ms = self._rooms.clock.now_ms()
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
        code = error.code if isinstance(error, AgentWorkOrdersError) else type(error).__name__
        for_good = isinstance(error, AgentWorkOrdersError) and not (
            isinstance(error, Failed) and error.category != "permanent"
        )
        level = "error" if for_good or not isinstance(error, AgentWorkOrdersError) else "warning"
        order_id = key.removesuffix(":progress") if key.endswith(":progress") else ""
        self._rooms.log(
            order_id, "github_report_failed", level, {"key": key, "error": str(error), "code": code}
        )
        if for_good:
            await self._settle(key, {"given_up": code})
            return True
        pause_ms = min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** min(count, 20))
        self._due[key] = self._rooms.clock.now_ms() + pause_ms
        return False

    # -- doing

    async def _do(self, key: str) -> bool:
        if key.endswith(":progress"):
            return await self._show(key.removesuffix(":progress"))
        entry = await self._rooms.ledger.find(key)
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
            await hub.react(repository, number, said["reaction"], said["comment_id"])
            return {}
        found = await hub.find_comment(repository, number, entry.key)
        made = found or await hub.add_comment(repository, number, said["text"], entry.key)
        return {"comment_id": made.comment_id}

    async def _show(self, order_id: str) -> bool:
        rooms = self._rooms
        run = self._runs.get(order_id) or await rooms.engine.run(order_id)
        if run is None:
            return True
        subject = msgspec.convert(run.order["github"], Subject, strict=False)
        hub, repository = rooms.forges.hub_at(
            str(run.order["repository"]), str(run.order["repository_url"])
        )
        await self._begin(f"{order_id}:progress", PROGRESS, order_id, {})
        picture = draw(run, order_url=rooms.order_url(order_id))
        shown = self._shown.setdefault(order_id, _Shown(checks={}))
        shown.at_ms = rooms.clock.now_ms()
        if shown.comment and picture.state in _UNHURRIED:
            hub = hub.asking("background")
        if subject.number is not None:
            await self._comment(hub, repository, subject.number, order_id, picture, shown)
        sha = picture.head_sha or subject.head_sha
        if sha:
            await self._check(hub, repository, sha, order_id, picture, shown)
            await self._supersede(hub, repository, sha, order_id, shown)
        if picture.over and self._runs.get(order_id, run) is run:
            await self._settle(f"{order_id}:progress", {"state": picture.state})
            self._runs.pop(order_id, None)
            self._shown.pop(order_id, None)
        return True

    async def _comment(
        self,
        hub: Hub,
        repository: Repository,
        number: int,
        order_id: str,
        picture: Picture,
        shown: _Shown,
    ) -> None:
        key = f"{order_id}:progress-comment"

        async def look() -> dict[str, Any] | None:
            found = await hub.find_comment(repository, number, key)
            return None if found is None else {"comment_id": found.comment_id}

        async def do() -> dict[str, Any]:
            made = await hub.add_comment(repository, number, picture.comment, key)
            shown.comment = picture.comment
            return {"comment_id": made.comment_id}

        receipt = await self._once(key, order_id, "comment on the subject", look, do)
        if shown.comment != picture.comment:
            comment_id = int(receipt["comment_id"])
            await hub.edit_comment(repository, comment_id, picture.comment, key)
            shown.comment = picture.comment

    async def _check(
        self,
        hub: Hub,
        repository: Repository,
        sha: str,
        order_id: str,
        picture: Picture,
        shown: _Shown,
    ) -> None:
        key = f"{order_id}:progress-check:{sha}"
        check, now = picture.check(sha), (picture.title, picture.conclusion or "")

        async def look() -> dict[str, Any] | None:
            found = await hub.find_check(repository, sha, key)
            return None if found is None else {"check_id": found}

        async def do() -> dict[str, Any]:
            made = await hub.add_check(repository, check, key)
            shown.checks[sha] = now
            return {"check_id": made}

        receipt = await self._once(key, order_id, "add a check", look, do)
        if shown.checks.get(sha) != now:
            await hub.edit_check(repository, int(receipt["check_id"]), check, key)
            shown.checks[sha] = now

    async def _supersede(
        self, hub: Hub, repository: Repository, sha: str, order_id: str, shown: _Shown
    ) -> None:
        """The order has pushed a newer commit: a check of an older one will never be concluded."""
        over, beginning = ("superseded", "neutral"), f"{order_id}:progress-check:"
        for entry in await self._rooms.ledger.entries(order_id):
            older = entry.key.removeprefix(beginning)
            if older in (entry.key, sha) or shown.checks.get(older) == over:
                continue
            if entry.receipt is not None:
                check = superseded(older, sha)
                await hub.edit_check(
                    repository, int(entry.receipt["check_id"]), check, f"{beginning}{older}"
                )
            shown.checks[older] = over

    # -- the ledger

    async def _once(self, key: str, order_id: str, what: str, look: Any, do: Any) -> dict[str, Any]:
        rooms = self._rooms

        async def send() -> dict[str, Any]:
            self._unsent.discard(key)
            try:
                made: dict[str, Any] = await do()
            except QuotaHeld:
                self._unsent.add(key)
                raise
            return made

        async def see() -> dict[str, Any] | None:
            return None if key in self._unsent else await look()

        return await once(
            rooms.ledger,
            rooms.clock,
            key,
            order_id=order_id,
            what=what,
            intent={},
            look=see,
            do=send,
        )

    async def _intend(self, key: str, what: str, spot: Spot, more: dict[str, Any]) -> None:
        intent = {
            "repository": msgspec.to_builtins(spot.repository),
            "number": spot.number,
            **more,
        }
        if self._rooms.forges.hub is not None and await self._begin(key, what, "", intent):
            self._plan(key, 0)

    async def _begin(self, key: str, what: str, order_id: str, intent: dict[str, Any]) -> bool:
        entry = await self._rooms.ledger.intend(
            key, order_id=order_id, what=what, intent=intent, at_ms=self._rooms.clock.now_ms()
        )
        return entry.receipt is None

    async def _settle(self, key: str, receipt: dict[str, Any]) -> None:
        if await self._rooms.ledger.find(key) is not None:
            await self._rooms.ledger.receive(key, receipt, at_ms=self._rooms.clock.now_ms())

    def _plan(self, key: str, at_ms: int) -> None:
        self._due[key] = at_ms
        self._idle.clear()
        self._wake.set()

    def _hub(self) -> Hub:
        hub = self._rooms.forges.hub
        assert hub is not None, "a reporter without a hub has nothing to report to"
        return hub
