"""From stored deliveries to orders: each is taken up in the order of arrival, and settled once.

Rules:
- An attempt is counted before it begins, so that a delivery that kills the server is found out:
  after `MAX_ATTEMPTS` it is failed, with the reason, and people may have it tried again.
- A quota, an outage or a server that cannot take work now is not the delivery's fault: it waits,
  uncounted, for three days at most. Others go on meanwhile; they may overtake it, which is why
  every decision reads the world as it is.
- One about a repository that is out of our reach is counted: it is not ours to wait for.
- Nothing that a delivery holds stops the loop.
- Most deliveries ask for nothing, which their reading alone tells (it is pure, and bounded at the
  door): those of a page are settled together, in one commit and uncounted.
"""

from __future__ import annotations

import asyncio

from agent_work_orders.errors import AgentWorkOrdersError, Failed, Permanent, Refused
from agent_work_orders.github_integration.forge import Hub, Repository
from agent_work_orders.github_integration.quota import Priority, QuotaHeld
from agent_work_orders.state_manager.deliveries import DAY_MS, KEEP_MS, Delivery
from agent_work_orders.work_orders.context import LiveContext
from agent_work_orders.work_orders.incoming import github_event, repository_access, rules, triggers
from agent_work_orders.work_orders.incoming.carry_out import (
    LocatedEvent,
    Result,
    Starter,
    located,
    refusal_words,
)
from agent_work_orders.work_orders.incoming.comment_command import USAGE
from agent_work_orders.work_orders.incoming.comment_verbs import Verbs
from agent_work_orders.work_orders.incoming.github_event import GitHubEvent, Person, Unusable
from agent_work_orders.work_orders.incoming.permissions import HubMemory
from agent_work_orders.work_orders.incoming.rules import Rules, RulesInvalid
from agent_work_orders.work_orders.outgoing.replies import Replies, Silent

MAX_ATTEMPTS = 5
GIVE_UP_MS = 3 * DAY_MS
"""As long as GitHub itself keeps deliveries."""
WAITS_S = (1, 5, 30, 120, 300)
"""After each failure; the last one over and over."""
LONGEST_WAIT_S = 60.0
TRIM_EVERY_MS = 3_600_000
PAGE = 100
NOTHING = "it asks for nothing"


class Intake:
    def __init__(
        self,
        context: LiveContext,
        hub: Hub | None,
        *,
        server_url: str,
        server_rules: Rules = rules.DEFAULTS,
        replies: Replies | None = None,
    ) -> None:
        self._context = context
        self._server_url = server_url
        self._replies = replies or Silent()
        self._hub = hub
        if hub is not None:
            self._memory = HubMemory(hub, context.clock, server_rules)
            self._starter = Starter(context, hub, self._replies)
        self._verbs = Verbs(context, self._replies, server_url)
        self._woken = asyncio.Event()
        self._later: dict[int, tuple[int, int, str]] = {}
        """By number: not before when, after how many failures, and the last reason."""
        self._trimmed_ms = 0

    def wake(self) -> None:
        """Something arrived."""
        self._woken.set()

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            self._woken.clear()
            try:
                await self.sweep()
            except AgentWorkOrdersError as error:
                # The store cannot be read or written now; what waits there stays.
                self._context.log("", "intake_halted", "error", {"error": str(error)})
            try:
                async with asyncio.timeout(self._wait_s()):
                    await self._woken.wait()
            except TimeoutError:
                continue

    async def sweep(self) -> int:
        """Take up everything that is due; returns how many were settled."""
        settled, after = 0, 0
        while page := await self._context.store.deliveries.waiting(PAGE, after=after):
            after = page[-1].n
            idle = {one.n for one in page if triggers.asks_nothing(one.event, one.body)}
            if idle:
                now_ms = self._context.clock.now_ms()
                await self._context.store.deliveries.settle_idle(sorted(idle), NOTHING, now_ms)
            settled += len(idle)
            for delivery in page:
                due_ms = self._later.get(delivery.n, (0, 0, ""))[0]
                if delivery.n not in idle and due_ms <= self._context.clock.now_ms():
                    settled += await self._take_up(delivery)
        for delivery_id in await self._context.store.deliveries.set_aside(
            self._context.clock.now_ms()
        ):
            fields = {"delivery_id": delivery_id, "about": "", "why": "its row was damaged"}
            self._context.log("", "delivery_failed", "warning", fields)
            settled += 1
        await self._trim()
        return settled

    async def _take_up(self, delivery: Delivery) -> bool:
        n, store = delivery.n, self._context.store.deliveries
        if delivery.attempts >= MAX_ATTEMPTS:
            why = self._later.get(n, (0, 0, "the server ended while it was handled"))[2]
            return await self._settle(delivery, ("failed", f"tried {MAX_ATTEMPTS} times: {why}"))
        await store.tried(n)
        try:
            return await self._settle(delivery, await self._handle(delivery))
        except QuotaHeld as held:
            await self._hold(delivery, str(held), until_ms=held.until_ms)
        except Permanent as error:
            self._note_later(delivery, str(error))
        except (Failed, Refused) as error:
            if error.code == "github_access_lost":
                # It may be seen a little later; else it would wait for something that is not ours.
                self._note_later(delivery, str(error))
            else:
                await self._hold(delivery, str(error))
        except Exception as error:  # noqa: BLE001 - one delivery must not stop the others
            fields = {"delivery_id": delivery.delivery_id, "exc_info": error}
            self._context.log("", "delivery_crashed", "error", fields)
            why = str(error) if isinstance(error, AgentWorkOrdersError) else type(error).__name__
            self._note_later(delivery, why)
        return False

    async def _hold(self, delivery: Delivery, why: str, until_ms: int | None = None) -> None:
        if self._context.clock.now_ms() - delivery.received_at_ms > GIVE_UP_MS:
            await self._settle(delivery, ("failed", why))
            return
        await self._context.store.deliveries.held(delivery.n)
        self._note_later(delivery, why, until_ms)

    def _note_later(self, delivery: Delivery, why: str, until_ms: int | None = None) -> None:
        failures = self._later.get(delivery.n, (0, 0, ""))[1]
        if until_ms is None:
            wait_s = WAITS_S[min(failures, len(WAITS_S) - 1)]
            until_ms = self._context.clock.now_ms() + wait_s * 1_000
        self._later[delivery.n] = (until_ms, failures + 1, self._context.redact(why)[:500])

    async def _settle(self, delivery: Delivery, result: Result) -> bool:
        outcome, why = result
        await self._context.store.deliveries.settle(
            delivery.n, outcome, why, self._context.clock.now_ms()
        )
        self._later.pop(delivery.n, None)
        fields = {"delivery_id": delivery.delivery_id, "about": delivery.event, "why": why}
        if outcome == "handled":
            self._context.log("", "delivery_handled", "info", fields)
        elif outcome == "failed":
            self._context.log("", "delivery_failed", "warning", fields)
        return True

    async def _handle(self, delivery: Delivery) -> Result:
        try:
            event = github_event.read(delivery.event, delivery.body)
        except Unusable as error:
            return "ignored", f"not as GitHub sends it: {error}"
        changed = triggers.access_change(event)
        if changed is not None:
            orders = await repository_access.change(
                self._context, self._server_url, changed, self._hub
            )
            return "handled", f"{changed.why}: {len(orders)} orders"
        if event.name == "push" and event.branch == event.default_branch and self._hub is not None:
            self._memory.forget_rules(event.repository_id)
        if not triggers.may_ask(event):
            return "ignored", NOTHING
        if (old := triggers.stale(event, delivery.received_at_ms)) is not None:
            # Before the hub is asked anything: who replays costs us no quota.
            await self._audit(event, old.why)
            return "ignored", old.why
        if self._hub is None:
            return "failed", "GitHub is not configured: set GITHUB_APP_ID or GITHUB_TOKEN"
        try:
            at = located(self._context, self._server_url, event, delivery.delivery_id)
        except Refused as error:
            nowhere = Repository(key="", full_name=event.full_name)
            at = LocatedEvent(
                event=event, repository=nowhere, url="", delivery_id=delivery.delivery_id
            )
            return await self._decided(at, delivery.received_at_ms, unusable=error)
        return await self._decided(at, delivery.received_at_ms)

    async def _decided(
        self, at: LocatedEvent, received_at_ms: int, unusable: Refused | None = None
    ) -> Result:
        """`unusable` says why nothing can be done there: told to whoever asks for something."""
        event, memory = at.event, self._memory
        # Who said something looks for an answer; a label or a push starts work that can wait.
        waits: Priority = "order" if event.remark is None else "person"
        try:
            given = await memory.rules(at.repository, event.repository_id, waits)
        except RulesInvalid as error:
            return await self._rules_invalid(at, error, waits)
        our_login = await memory.our_login()
        decision = triggers.decide(event, given, our_login, received_at_ms)
        match decision:
            case triggers.Ignore():
                if decision.audited:
                    await self._audit(event, decision.why)
                return "ignored", decision.why
            case triggers.AccessChanged():
                return "ignored", decision.why
        fresh = isinstance(decision, triggers.Command) and decision.verb != "help"
        if decision.by is not None:
            why = await self._not_writer(at, decision.by, waits, fresh=fresh)
            if why:
                return "ignored", why
        if unusable is not None:
            await self._refused(at, unusable)
            return "failed", str(unusable)
        try:
            match decision:
                case triggers.Start():
                    return await self._starter.start(at, decision)
                case triggers.Command():
                    return await self._verbs.do(at, decision)
                case triggers.Answer():
                    await self._say(at, decision.key, f"{decision.why}.\n\n{USAGE}")
                    return "ignored", decision.why
        except Refused as error:
            if error.status == 503:
                raise
            return await self._refused(at, error)

    async def _not_writer(
        self, at: LocatedEvent, by: Person, waits: Priority, *, fresh: bool = False
    ) -> str:
        """Why they are not heard, which is audited; empty for who may write."""
        event = at.event
        memory = self._memory
        if await memory.may_write(at.repository, event.repository_id, by, waits, fresh=fresh):
            return ""
        why = f"{by.login} has no write access"
        await self._audit(event, why)
        return why

    async def _rules_invalid(
        self, at: LocatedEvent, error: RulesInvalid, waits: Priority
    ) -> Result:
        """Told to a writer who asked for something: strangers and bots cannot make us talk."""
        event = at.event
        unheard = triggers.unanswered(event, await self._memory.our_login())
        if unheard is None:
            why = await self._not_writer(at, event.sender, waits)
            return ("ignored", why) if why else await self._refused(at, error)
        if unheard.audited:
            await self._audit(event, unheard.why)
        return "ignored", f"{unheard.why}; {error}"

    async def _refused(self, at: LocatedEvent, error: Refused) -> Result:
        """What is asked for cannot be done as it is: told to who asked, not tried again."""
        key = "" if at.event.remark is None else str(at.event.remark.comment_id)
        await self._say(at, f"refused:{error.code}:{key}", f"Not started: {refusal_words(error)}")
        # What the operator must mend can be tried again afterwards.
        return ("failed" if error.code == "agent_missing" else "ignored"), str(error)

    async def _say(self, at: LocatedEvent, key: str, text: str) -> None:
        if at.conversation is not None:
            whole = f"github:{at.event.repository_id}:{at.event.subject}:{key}"
            await self._replies.say(at.conversation, whole, self._context.redact(text))

    async def _audit(self, event: GitHubEvent, why: str) -> None:
        await self._context.store.audit.append(
            at_ms=self._context.clock.now_ms(),
            who=f"github:{event.sender.login.lower()}",
            what="github.not_heard",
            target=f"{event.full_name} {event.subject}",
            details={"event": f"{event.name}.{event.action}", "why": why},
        )

    async def _trim(self) -> None:
        now_ms = self._context.clock.now_ms()
        if now_ms - self._trimmed_ms >= TRIM_EVERY_MS:
            self._trimmed_ms = now_ms
            await self._context.store.deliveries.trim(now_ms - KEEP_MS)

    def _wait_s(self) -> float:
        due_ms = min((at_ms for at_ms, _, _ in self._later.values()), default=None)
        if due_ms is None:
            return LONGEST_WAIT_S
        return min(max((due_ms - self._context.clock.now_ms()) / 1000, 0.05), LONGEST_WAIT_S)
