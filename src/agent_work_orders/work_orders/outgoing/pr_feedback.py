"""Feedback on a pull request from outside: a comment and a concluded check, each written once.

The same feedback (or the same idempotency key) again finds what it wrote and changes nothing. The
comment comes first: a check that says "failed" should find its explanation there. Where we are no
App the check is a commit status, and its id 0.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections import OrderedDict
from typing import Any, Literal

import msgspec

from agent_work_orders.errors import BadRequest, Conflict, NotFound, Unavailable
from agent_work_orders.github_integration import verdicts
from agent_work_orders.github_integration.forge import Check, Hub, Repository
from agent_work_orders.github_integration.full_name import is_full_name
from agent_work_orders.github_integration.quota import QuotaHeld
from agent_work_orders.repositories import url
from agent_work_orders.security.roles import Caller
from agent_work_orders.state_manager.once import once
from agent_work_orders.work_orders.context import LiveContext
from agent_work_orders.work_orders.submit import check_text

TITLE = "AI Code Review"
SUMMARY = "Review complete."
CHECK_NAME = "Agent Review"
COMMENT_LIMIT_CHARS = 60_000
MAX_LOCKS = 1_000
_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")

Status = Literal["success", "failure", "neutral"]


class Feedback(msgspec.Struct, frozen=True, kw_only=True):
    owner: str
    repo: str
    number: int
    sha: str
    status: Status
    comment: str = ""
    check_name: str = CHECK_NAME


class Locks:
    """Keeps apart what has one key at the same time; the ledger records, it does not lock."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, asyncio.Lock] = OrderedDict()

    def of(self, key: str) -> asyncio.Lock:
        lock = self._kept.setdefault(key, asyncio.Lock())
        self._kept.move_to_end(key)
        for old in list(self._kept)[: max(0, len(self._kept) - MAX_LOCKS)]:
            if not self._kept[old].locked():
                del self._kept[old]
        return lock


async def give(
    context: LiveContext,
    locks: Locks,
    server_url: str,
    given: Feedback,
    caller: Caller,
    idempotency_key: str | None = None,
) -> dict[str, Any]:
    """Receipts of the check and of the comment, if there is one. BadRequest `feedback_invalid`;
    NotFound for a repository that the caller may not see; Conflict `idempotency_key_reused`;
    Unavailable `github_held`; what the hub raises."""
    caller.need("operate")
    _check(given)
    address = f"{server_url}/{given.owner}/{given.repo}.git"
    key = url.parse(address, origins=context.policy.git_origins).key
    caller.need_repository(key)
    hub, repository = context.forges.hub_at(key, address)
    body = hashlib.sha256(msgspec.json.encode(given, order="sorted")).hexdigest()
    name = body if idempotency_key is None else _named(caller, idempotency_key)
    async with locks.of(name):
        await _same(context, name, body)
        try:
            return await _write(context, hub.asking("person"), repository, given, caller, name)
        except QuotaHeld as held:
            wait_s = max(1.0, (held.until_ms - context.clock.now_ms()) / 1000)
            raise Unavailable(
                "github_held",
                "GitHub's limits do not allow this now",
                hint="Send it again later; what was written is not written twice.",
                retry_after_s=wait_s,
            ) from None


async def _write(
    context: LiveContext,
    hub: Hub,
    repository: Repository,
    given: Feedback,
    caller: Caller,
    name: str,
) -> dict[str, Any]:
    await context.store.audit.append(
        at_ms=context.clock.now_ms(),
        who=caller.name,
        what="github.feedback",
        target=f"{repository.full_name}#{given.number}",
        details={"sha": given.sha, "status": given.status, "check": given.check_name},
    )
    answer: dict[str, Any] = {}
    if given.comment:
        answer["comment"] = await _comment(context, hub, repository, given, f"feedback:{name}")
    answer["check"] = await _conclude(context, hub, repository, given, f"feedback:{name}:check")
    return answer


async def _comment(
    context: LiveContext, hub: Hub, repository: Repository, given: Feedback, key: str
) -> dict[str, Any]:
    async def look() -> dict[str, Any] | None:
        found = await hub.find_comment(repository, given.number, key)
        return None if found is None else {"comment_id": found.comment_id, "url": found.url}

    async def do() -> dict[str, Any]:
        made = await hub.add_comment(repository, given.number, context.redact(given.comment), key)
        return {"comment_id": made.comment_id, "url": made.url}

    intent = {"repository": repository.full_name, "number": given.number}
    return await once(
        context.store.ledger, context.clock, key,
        order_id="", what="github.comment", intent=intent, look=look, do=do,
    )  # fmt: skip


async def _conclude(
    context: LiveContext, hub: Hub, repository: Repository, given: Feedback, key: str
) -> dict[str, Any]:
    check = Check(
        name=given.check_name,
        head_sha=given.sha,
        title=TITLE,
        summary=context.redact(given.comment) or SUMMARY,
        conclusion=given.status,
    )

    async def look() -> dict[str, Any] | None:
        found = await verdicts.find(hub, repository, given.sha, key)
        return None if found is None else {"check_id": found}

    async def do() -> dict[str, Any]:
        return {"check_id": await verdicts.add(hub, repository, check, key)}

    intent = {"repository": repository.full_name, "sha": given.sha}
    return await once(
        context.store.ledger, context.clock, key,
        order_id="", what="github.check", intent=intent, look=look, do=do,
    )  # fmt: skip


async def _same(context: LiveContext, name: str, body: str) -> None:
    """A key belongs to the first feedback that came with it."""
    kept = await context.store.ledger.intend(
        f"feedback:{name}:asked",
        order_id="",
        what="github.feedback",
        intent={"body": body},
        at_ms=context.clock.now_ms(),
    )
    if kept.intent["body"] != body:
        raise Conflict(
            "idempotency_key_reused",
            "this idempotency key belongs to another request",
            hint="Use a new key for a new request.",
            field="Idempotency-Key",
        )


def _named(caller: Caller, idempotency_key: str) -> str:
    return hashlib.sha256(f"{caller.name}\0{idempotency_key}".encode()).hexdigest()


def _check(given: Feedback) -> None:
    check_text("comment", given.comment, COMMENT_LIMIT_CHARS)
    check_text("checkName", given.check_name, 100)
    if not is_full_name(f"{given.owner}/{given.repo}"):
        raise NotFound(
            "repository_unknown",
            "There is no repository of that name",
            hint="Give owner and repo as in its address.",
            field="repo",
        )
    for field, fits in (
        ("prNumber", 0 < given.number < 2**31),
        ("sha", _SHA.fullmatch(given.sha) is not None),
    ):
        if not fits:
            raise BadRequest(
                "feedback_invalid",
                f"{field} has not the form that it needs",
                hint="prNumber is a number, sha a whole commit id in lower case.",
                field=field,
            )
