"""The view of one order on the hub: its comment, its check, the checks of older commits.

Each is brought up to date whatever became of the others: a comment that somebody deleted must not
keep the check from concluding. Nothing that was deleted is written again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import msgspec

from agent_work_orders.errors import AgentWorkOrdersError, Environmental, Failed, Permanent, Refused
from agent_work_orders.github_integration import verdicts
from agent_work_orders.github_integration.forge import Hub, Repository
from agent_work_orders.github_integration.quota import QuotaHeld
from agent_work_orders.state_manager.once import once
from agent_work_orders.work_orders.context import LiveContext
from agent_work_orders.work_orders.outgoing.progress_view import ProgressView, superseded

FAILED = "github_report_failed"
_NOT_SENT = (QuotaHeld, Refused, Permanent, Environmental)
"""After these of a write of one request, nothing of it is there."""
_SUPERSEDED = ("superseded", "neutral")

Part = Callable[[], Awaitable[None]]


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """What of `order.github` is needed here."""

    issue: int | None = None
    pull_request: int | None = None
    head_sha: str | None = None

    @property
    def number(self) -> int | None:
        return self.issue if self.issue is not None else self.pull_request


def may_pass(error: AgentWorkOrdersError) -> bool:
    """Whether the same can succeed later."""
    return isinstance(error, Failed) and error.category != "permanent"


class PostedProgress:
    """What this process knows to be on the hub of one order."""

    def __init__(self, context: LiveContext, order_id: str) -> None:
        self._context = context
        self._order_id = order_id
        self._comment = ""
        self._checks: dict[str, tuple[str, str]] = {}
        """By commit: title and conclusion."""
        self._unsent: set[str] = set()
        """Writes that need no look at the world."""
        self._refused: set[str] = set()
        """Parts that cannot be shown: tried again only where a view matters."""
        self.at_ms = 0

    def is_detail(self, view: ProgressView) -> bool:
        """Whether people know of the order, and nothing is asked or told but how far it is."""
        return bool(self._comment) and _unhurried(view)

    async def bring(
        self, hub: Hub, repository: Repository, subject: Subject, view: ProgressView
    ) -> None:
        """Every part up to date. What is refused for good is logged, once; then raises the first
        failure that may pass, or QuotaHeld."""
        later: AgentWorkOrdersError | None = None
        for name, part in await self._parts(hub, repository, subject, view):
            if name in self._refused and _unhurried(view):
                continue
            try:
                await part()
            except AgentWorkOrdersError as error:
                if may_pass(error):
                    later = later or error
                elif name not in self._refused:
                    self._refused.add(name)
                    fields = {"key": name, "error": str(error), "code": error.code}
                    self._context.log(self._order_id, FAILED, "error", fields)
        if later is not None:
            raise later

    async def _parts(
        self, hub: Hub, repository: Repository, subject: Subject, view: ProgressView
    ) -> list[tuple[str, Part]]:
        parts: list[tuple[str, Part]] = []
        if (number := subject.number) is not None:
            key = f"{self._order_id}:progress-comment"
            parts.append((key, partial(self._say, hub, repository, number, key, view)))
        sha = view.head_sha or subject.head_sha
        if not sha:
            return parts
        beginning = f"{self._order_id}:progress-check:"
        key = f"{beginning}{sha}"
        parts.append((key, partial(self._judge, hub, repository, sha, key, view)))
        for entry in await self._context.store.ledger.entries(self._order_id):
            older = entry.key.removeprefix(beginning)
            if older not in (entry.key, sha) and entry.receipt is not None:
                check_id = int(entry.receipt["check_id"])
                step = partial(self._supersede, hub, repository, older, sha, check_id, entry.key)
                parts.append((entry.key, step))
        return parts

    async def _say(
        self, hub: Hub, repository: Repository, number: int, key: str, view: ProgressView
    ) -> None:
        async def look() -> dict[str, Any] | None:
            found = await hub.find_comment(repository, number, key)
            return None if found is None else {"comment_id": found.comment_id}

        async def do() -> dict[str, Any]:
            made = await hub.add_comment(repository, number, view.comment, key)
            self._comment = view.comment
            return {"comment_id": made.comment_id}

        receipt = await self._once(key, "comment on the subject", look, do)
        if self._comment != view.comment:
            comment_id = int(receipt["comment_id"])
            await hub.edit_comment(repository, comment_id, view.comment, key)
            self._comment = view.comment

    async def _judge(
        self, hub: Hub, repository: Repository, sha: str, key: str, view: ProgressView
    ) -> None:
        check, now = view.check(sha), (view.title, view.conclusion or "")

        async def look() -> dict[str, Any] | None:
            found = await verdicts.find(hub, repository, sha, key)
            return None if found is None else {"check_id": found}

        async def do() -> dict[str, Any]:
            made = await verdicts.add(hub, repository, check, key)
            self._checks[sha] = now
            return {"check_id": made}

        receipt = await self._once(key, "add a check", look, do)
        if self._checks.get(sha) != now:
            await verdicts.edit(hub, repository, int(receipt["check_id"]), check, key)
            self._checks[sha] = now

    async def _supersede(
        self, hub: Hub, repository: Repository, older: str, sha: str, check_id: int, key: str
    ) -> None:
        """The order has pushed a newer commit: a check of an older one will never be concluded."""
        if self._checks.get(older) != _SUPERSEDED:
            await verdicts.edit(hub, repository, check_id, superseded(older, sha), key)
            self._checks[older] = _SUPERSEDED

    async def _once(self, key: str, what: str, look: Any, do: Any) -> dict[str, Any]:
        async def send() -> dict[str, Any]:
            self._unsent.discard(key)
            try:
                made: dict[str, Any] = await do()
            except _NOT_SENT:
                self._unsent.add(key)
                raise
            return made

        async def see() -> dict[str, Any] | None:
            return None if key in self._unsent else await look()

        return await once(
            self._context.store.ledger,
            self._context.clock,
            key,
            order_id=self._order_id,
            what=what,
            intent={},
            look=see,
            do=send,
        )


def _unhurried(view: ProgressView) -> bool:
    return view.state in ("running", "waiting")
