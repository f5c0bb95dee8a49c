"""Doing what an event asks for: an order that starts, or a verb for orders that are there.

Everything here may happen twice (a crash, two deliveries of one event) and must then be the same:
orders are keyed by what asked for them, verbs by the comment that held them. What people wrote is
taken from the delivery, as it was when they asked; whether it still holds is read from the hub.
"""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from agent_work_orders.errors import Conflict, NotFound, Refused
from agent_work_orders.github_integration.forge import Hub, PullRequest, Repository
from agent_work_orders.repositories import url
from agent_work_orders.security.roles import Caller, Role
from agent_work_orders.state_manager.deliveries import Outcome
from agent_work_orders.state_manager.subjects import OrderSubject
from agent_work_orders.tools import commit_message
from agent_work_orders.work_orders import steer, submit
from agent_work_orders.work_orders.context import LiveContext
from agent_work_orders.work_orders.incoming.github_event import GitHubEvent, Person
from agent_work_orders.work_orders.incoming.triggers import Start
from agent_work_orders.work_orders.order_facts import facts_of
from agent_work_orders.work_orders.outgoing.replies import Conversation, Replies

KEY_ATTEMPTS = 3
"""A key whose order was claimed with other words and never made is passed over, so often."""

Result = tuple[Outcome, str]


class LocatedEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event with the repository it is about, as we address it."""

    event: GitHubEvent
    repository: Repository
    url: str
    delivery_id: str

    @property
    def conversation(self) -> Conversation | None:
        if not self.event.number:
            return None
        return Conversation(
            repository=self.repository,
            repository_id=self.event.repository_id,
            number=self.event.number,
        )

    @property
    def comment_id(self) -> int | None:
        remark = self.event.remark
        return remark.comment_id if remark is not None and remark.kind != "review" else None

    @property
    def on_a_line(self) -> bool:
        """Whether that comment is on a line of the change."""
        return self.event.remark is not None and self.event.remark.kind == "review_comment"


def located(
    context: LiveContext, server_url: str, event: GitHubEvent, delivery_id: str
) -> LocatedEvent:
    """The address is made of the configured server and a checked name, never read from a payload.
    Refused for a server that the operator did not allow."""
    address = f"{server_url}/{event.full_name}.git"
    key = url.parse(address, origins=context.policy.git_origins).key
    repository = Repository(key=key, full_name=event.full_name)
    return LocatedEvent(event=event, repository=repository, url=address, delivery_id=delivery_id)


def caller_of(at: LocatedEvent, by: Person | None, role: Role = "operator") -> Caller:
    """A person of the hub, for this repository only."""
    name = "github:rules" if by is None else f"github:{by.login.lower()}"
    return Caller(name=name, role=role, repositories=(at.repository.key,))


class Starter:
    def __init__(self, context: LiveContext, hub: Hub, replies: Replies) -> None:
        self._context = context
        self._hub = hub
        self._replies = replies

    async def start(self, at: LocatedEvent, asked: Start) -> Result:
        pull, gone = await self._now(at, asked)
        if gone:
            return "ignored", gone
        if asked.supersedes and pull is not None:
            asked = msgspec.structs.replace(asked, key=asked.key + pull.head_sha)
        key = _key(at.event.repository_id, asked)
        busy = await self._open_orders(at, asked)
        known = [order_id for order_id, its in busy.items() if its == key]
        if busy and not known and not asked.commanded:
            if not asked.supersedes:
                return "ignored", f"{next(iter(busy))} is at work on it"
            await self._cancel(at, list(busy))
        order_id = await self._submit(at, asked, pull, key)
        await self._note(at, asked, order_id)
        if at.conversation is not None:
            await self._replies.react(
                at.conversation, at.comment_id, "eyes", on_a_line=at.on_a_line
            )
        return "handled", f"{asked.purpose}: {order_id}"

    async def _now(self, at: LocatedEvent, asked: Start) -> tuple[PullRequest | None, str]:
        """The pull request as it is, if it is one; and why nothing is to be done any more."""
        event = at.event
        if not event.number:
            return None, ""
        hub = self._hub.asking("person" if asked.commanded else "order")
        try:
            pull = None
            if event.is_pull:
                pull = await hub.pull_request(at.repository, event.number)
                if pull.state in ("closed", "merged"):
                    return pull, "it is closed by now"
                if not asked.label:
                    return pull, ""
            # Of a pull request too: its labels are those of the issue of the same number.
            issue = await hub.issue(at.repository, event.number)
        except NotFound:
            return None, "it is gone by now"
        if issue.state != "open":
            return pull, "it is closed by now"
        if asked.label and asked.label not in issue.labels:
            return pull, "the label is gone by now"
        return pull, ""

    async def _open_orders(self, at: LocatedEvent, asked: Start) -> dict[str, str]:
        """Open ones about the same thing for the same purpose, with what asked for each."""
        found = {}
        for one in await self._context.store.subjects.about(at.event.repository_id, asked.subject):
            run = await self._context.runs.run(one.order_id)
            if one.purpose == asked.purpose and run is not None and run.stage != "ended":
                found[one.order_id] = facts_of(run).cause
        return found

    async def _cancel(self, at: LocatedEvent, orders: list[str]) -> None:
        for order_id in orders:
            try:
                await steer.cancel(self._context, order_id, caller_of(at, None))
            except Conflict:
                continue  # it ended by itself

    async def _submit(
        self, at: LocatedEvent, asked: Start, pull: PullRequest | None, key: str
    ) -> str:
        """The order of this key, made now or before."""
        new = _order(at, asked, pull, key)
        caller = caller_of(at, asked.by)
        for attempt in range(KEY_ATTEMPTS):
            tried = key if attempt == 0 else f"{key}-{attempt}"
            try:
                made = await submit.submit(
                    self._context, msgspec.structs.replace(new, idempotency_key=tried), caller
                )
                return made.agent_work_order_id
            except Conflict as error:
                if error.code != "idempotency_key_reused":
                    raise
                first = str(error.context["order_id"])
                if await self._context.runs.run(first) is not None:
                    return first
        raise Conflict(
            "order_claimed_elsewhere",
            "This event's order was begun with other words, several times, and never made",
            hint="Ask again by a comment.",
        )

    async def _note(self, at: LocatedEvent, asked: Start, order_id: str) -> None:
        if await self._context.store.subjects.of_order(order_id) is not None:
            return
        at_ms = self._context.clock.now_ms()
        await self._context.store.audit.append(
            at_ms=at_ms,
            who=caller_of(at, asked.by).name,
            what="github.order",
            order_id=order_id,
            target=f"{at.event.full_name} {asked.subject}",
            details={"purpose": asked.purpose, "key": asked.key, "delivery": at.delivery_id},
        )
        await self._context.store.subjects.add(
            OrderSubject(
                order_id=order_id,
                repository_id=at.event.repository_id,
                subject=asked.subject,
                purpose=asked.purpose,
                asked_by=asked.caused_by.mark,
                at_ms=at_ms,
            )
        )


def _key(repository_id: int, asked: Start) -> str:
    """By what asked, not by the delivery: label names and branches are long, so it is a hash."""
    text = f"{repository_id}\0{asked.subject}\0{asked.purpose}\0{asked.key}"
    return "github-" + hashlib.sha256(text.encode()).hexdigest()


def _order(at: LocatedEvent, asked: Start, pull: PullRequest | None, key: str) -> submit.NewOrder:
    event = at.event
    base = asked.base_branch
    if pull is not None:
        # The code of a fork is not in this repository, and not to be worked on as if it were.
        base = pull.base_branch if pull.from_fork else pull.head_branch
    issue = event.number if event.number and not event.is_pull else None
    return submit.NewOrder(
        repository_url=at.url,
        workflow_type=asked.workflow,
        github_issue_number=None if issue is None else str(issue),
        initial_prompt=asked.prompt,
        title=commit_message.one_line(asked.title)[: submit.TITLE_LIMIT_CHARS] or None,
        base_branch=base,
        github=_facts(at, asked, pull, key, issue),
    )


def _facts(
    at: LocatedEvent, asked: Start, pull: PullRequest | None, key: str, issue: int | None
) -> dict[str, Any]:
    event = at.event
    facts = {
        "repository_id": event.repository_id,
        "full_name": event.full_name,
        "issue": issue,
        "pull_request": event.number if event.is_pull else None,
        "head_sha": pull.head_sha if pull is not None else event.head_sha or None,
        "from_fork": pull.from_fork if pull is not None else None,
        "comment_id": at.comment_id,
        "sender": None if asked.by is None else asked.by.login,
        "purpose": asked.purpose,
        "key": key,
    }
    return {name: value for name, value in facts.items() if value is not None}


def refusal_words(error: Refused) -> str:
    message = error.message if error.message.endswith((".", "!", "?")) else f"{error.message}."
    return f"{message} {error.hint}".strip()
