"""Verbs of comments for orders that are there: approve, reject, cancel, retry, help.

An order is found by what it is about, or by an id that is named, and must belong to the
repository where the comment was written. A decision names the hash of what was looked at, and is
never the requester's own where four eyes are asked for.

A verb may be killed between its doing and its receipt. The next attempt is for the same order, and
answers as done what it finds done: the intent (`Entry`) was there before it.
"""

from __future__ import annotations

import contextlib

from agent_work_orders.errors import Conflict, NotFound, Refused
from agent_work_orders.state_manager.approvals import ApprovalRecord
from agent_work_orders.state_manager.ledger import Entry
from agent_work_orders.state_manager.records import OrderFilter
from agent_work_orders.work_orders import approvals, find, steer
from agent_work_orders.work_orders.context import LiveContext
from agent_work_orders.work_orders.incoming.carry_out import (
    LocatedEvent,
    Result,
    caller_of,
    refusal_words,
)
from agent_work_orders.work_orders.incoming.comment_command import USAGE
from agent_work_orders.work_orders.incoming.triggers import Command
from agent_work_orders.work_orders.outgoing.replies import Replies

LOOKED_AT = 500
"""Orders of a repository among which that of a pull request is looked for."""


class Verbs:
    def __init__(self, context: LiveContext, replies: Replies, server_url: str) -> None:
        self._context = context
        self._replies = replies
        self._server_url = server_url

    async def do(self, at: LocatedEvent, asked: Command) -> Result:
        """Once for each comment: a second delivery of it finds what came of the first."""
        context = self._context
        key = f"github:{at.event.repository_id}:{asked.key}"
        before = await context.store.ledger.find(key)
        if before is not None and before.receipt is not None:
            return "handled", f"{asked.verb}: done before"
        if before is None:
            intended = await self._intend(at, asked, key)
            before = intended if context.store.ledger.doubted else None
        try:
            outcome = await self._do(at, asked, before)
        except Refused as error:
            if error.status == 503:
                raise
            outcome = f"Not done: {refusal_words(error)}"
        if at.conversation is not None:
            await self._replies.react(
                at.conversation, at.comment_id, "eyes", on_a_line=at.on_a_line
            )
            await self._replies.say(at.conversation, key, outcome)
        await context.store.ledger.receive(key, {"outcome": outcome}, at_ms=context.clock.now_ms())
        return "handled", f"{asked.verb}: {outcome}"[:500]

    async def _intend(self, at: LocatedEvent, asked: Command, key: str) -> Entry:
        intent = {"by": asked.by.mark, "delivery": at.delivery_id}
        if asked.verb in ("cancel", "retry"):
            # Another order may be the newest one at the next attempt.
            with contextlib.suppress(Refused):
                intent["order"] = await self._target(at, asked)
        return await self._context.store.ledger.intend(
            key,
            order_id="",
            what=f"github.{asked.verb}",
            intent=intent,
            at_ms=self._context.clock.now_ms(),
        )

    async def _do(self, at: LocatedEvent, asked: Command, before: Entry | None) -> str:
        match asked.verb:
            case "approve" | "reject":
                try:
                    return _decided(asked, await self._decide(at, asked))
                except Conflict:
                    done = None if before is None else await self._done(at, asked, before)
                    if done is None:
                        raise
                    return _decided(asked, done)
            case "cancel":
                order_id = await self._target(at, asked, before)
                # What is cancelled already is no conflict there.
                await steer.cancel(self._context, order_id, caller_of(at, asked.by))
                return f"{order_id} is cancelled."
            case "retry":
                order_id = await self._target(at, asked, before)
                await self._retry(at, asked, before, order_id)
                return f"{order_id} is tried again."
        return USAGE

    async def _retry(
        self, at: LocatedEvent, asked: Command, before: Entry | None, order_id: str
    ) -> None:
        try:
            await steer.retry(self._context, order_id, caller_of(at, asked.by))
        except Conflict:
            run = await self._context.runs.run(order_id)
            if before is None or run is None or run.stage != "active":
                raise

    async def _done(self, at: LocatedEvent, asked: Command, before: Entry) -> ApprovalRecord | None:
        """What this caller decided under this hash since they asked to, in just this way."""
        wanted = "approved" if asked.verb == "approve" else "rejected"
        name = caller_of(at, asked.by).name
        for one in await self._named(at, asked.said.subject_hash):
            at_ms = one.decided_at_ms or 0
            if (one.state, one.decided_by) == (wanted, name) and at_ms >= before.intended_at_ms:
                return one
            # The list of approvals is written behind the run.
            run = await self._context.runs.run(one.run_id) if one.state == "asked" else None
            task = None if run is None else run.tasks.get(one.path)
            gate = None if task is None else task.gate
            if gate is None or gate.subject_hash != one.subject_hash:
                continue
            if (gate.decision, gate.by) == (wanted, name):
                return one
        return None

    async def _decide(self, at: LocatedEvent, asked: Command) -> ApprovalRecord:
        found = await self._asked(at, asked.said.subject_hash)
        subject = await self._context.store.subjects.of_order(found.order_id)
        asked_by = "" if subject is None else subject.asked_by
        # By the number, which stays when somebody takes another name.
        if self._context.policy.four_eyes and asked_by.split(":")[0] == str(asked.by.user_id):
            raise approvals.own_order()
        return await approvals.decide(
            self._context,
            found.approval_id,
            caller_of(at, asked.by, "approver"),
            approved=asked.verb == "approve",
            comment=asked.said.reason,
            subject_hash=found.subject_hash,
        )

    async def _asked(self, at: LocatedEvent, named: str) -> ApprovalRecord:
        """What is asked now under this hash, of the orders about this subject."""
        found = [one for one in await self._named(at, named) if one.state == "asked"]
        if len(found) != 1:
            raise Conflict(
                "approval_subject_changed",
                "What is asked for is not what you named",
                hint="Look at it again and name the hash that is shown now.",
            )
        return found[0]

    async def _named(self, at: LocatedEvent, named: str) -> list[ApprovalRecord]:
        return [
            one
            for order_id in await self._orders(at, at.event.subject)
            for one in await self._context.store.approvals.of_order(order_id)
            if one.subject_hash.startswith(named)
        ]

    async def _target(self, at: LocatedEvent, asked: Command, before: Entry | None = None) -> str:
        named = asked.said.order if before is None else str(before.intent.get("order", ""))
        named = named or asked.said.order
        if named:
            row = await find.record_of(self._context, named, caller_of(at, asked.by))
            return row.agent_work_order_id
        orders = await self._orders(at, asked.subject)
        if not orders:
            raise NotFound(
                "order_unknown", "There is no work order about this", hint="`/awo run` starts one."
            )
        return orders[0]

    async def _orders(self, at: LocatedEvent, subject: str) -> list[str]:
        """Newest first: those that it asked for, then those whose pull request it is."""
        context, event = self._context, at.event
        about = await context.store.subjects.about(event.repository_id, subject)
        found = [one.order_id for one in about]
        if subject.startswith("pull:"):
            address = f"{self._server_url}/{event.full_name}/pull/{subject.removeprefix('pull:')}"
            page = await context.store.records.page(
                OrderFilter(repository=at.repository.key), limit=LOOKED_AT
            )
            found += [
                row.agent_work_order_id
                for row in page.agent_work_orders
                if row.github_pull_request_url == address and row.agent_work_order_id not in found
            ]
        return found


def _decided(asked: Command, found: ApprovalRecord) -> str:
    how = "approved" if asked.verb == "approve" else "rejected"
    return f"{found.path} of {found.order_id} is {how}."
