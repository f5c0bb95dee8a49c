"""Feedback on a pull request: a comment and a check, once, for who may."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from intake_bench import Desk

from agent_work_orders.errors import (
    BadRequest,
    Conflict,
    Forbidden,
    NotFound,
    Permanent,
    Refused,
    Transient,
    Unavailable,
    Unknown,
)
from agent_work_orders.github_integration.forge import Check, Comment
from agent_work_orders.github_integration.forges import Forges
from agent_work_orders.github_integration.quota import QuotaHeld
from agent_work_orders.security.roles import LOCAL_OPERATOR, Caller
from agent_work_orders.work_orders.context import Context
from agent_work_orders.work_orders.outgoing import pr_feedback
from agent_work_orders.work_orders.outgoing.pr_feedback import Feedback, Locks

SERVER = "https://github.com"
SHA = "a" * 40


class FakeHub:
    """Comments and checks by key. `lost` loses the answer after the write."""

    def __init__(self) -> None:
        self.comments: list[tuple[str, str]] = []
        self.checks: list[tuple[str, Check]] = []
        self.lost: Exception | None = None
        self.asked: list[str] = []
        self.login = "awo[bot]"
        self.statuses: list[tuple[str, str, str]] = []

    def asking(self, priority: str) -> FakeHub:
        self.asked.append(priority)
        return self

    def _answer(self) -> None:
        if self.lost is not None:
            lost, self.lost = self.lost, None
            raise lost

    async def our_login(self) -> str:
        return self.login

    async def set_status(
        self, _repository: Any, sha: str, *, context: str, state: str, **_more: str
    ) -> None:
        if (sha, context, state) not in self.statuses:  # as the real one
            self.statuses.append((sha, context, state))
        self._answer()

    async def find_comment(self, _repository: Any, _number: int, key: str) -> Comment | None:
        found = [n for n, one in enumerate(self.comments) if one[0] == key]
        return _comment(found[0]) if found else None

    async def add_comment(self, _repository: Any, _number: int, body: str, key: str) -> Comment:
        await asyncio.sleep(0)
        self.comments.append((key, body))
        self._answer()
        return _comment(len(self.comments) - 1)

    async def find_check(self, _repository: Any, _sha: str, key: str) -> int | None:
        return next((n for n, one in enumerate(self.checks) if one[0] == key), None)

    async def add_check(self, _repository: Any, check: Check, key: str) -> int:
        if not self.login.endswith("[bot]"):
            raise Permanent("github_refused", "You must authenticate via a GitHub App.", hint="Do.")
        self.checks.append((key, check))
        self._answer()
        return len(self.checks) - 1


def _comment(number: int) -> Comment:
    return Comment(comment_id=number, author="awo[bot]", body="", url=f"/{number}")


class Bench:
    def __init__(self, context: Context) -> None:
        self.hub = FakeHub()
        forges = Forges(context.reviews, self.hub, SERVER)  # type: ignore[arg-type]
        self.context = msgspec.structs.replace(context, forges=forges)
        self.locks = Locks()

    async def give(
        self, caller: Caller = LOCAL_OPERATOR, key: str | None = None, **given: Any
    ) -> Any:
        whole: dict[str, Any] = {
            "owner": "acme", "repo": "site", "number": 9, "sha": SHA, "status": "success", **given,
        }  # fmt: skip
        feedback = Feedback(**whole)
        return await pr_feedback.give(self.context, self.locks, SERVER, feedback, caller, key)


@pytest.fixture
async def bench(folder: Path) -> AsyncIterator[Bench]:
    async with Desk(folder).opened() as desk:
        yield Bench(desk.house.context)


async def test_a_comment_and_a_check(bench: Bench) -> None:
    written = await bench.give(comment="Looks good")
    assert written == {"comment": {"comment_id": 0, "url": "/0"}, "check": {"check_id": 0}}
    [(_, check)] = bench.hub.checks
    assert (check.title, check.summary, check.conclusion) == (
        "AI Code Review", "Looks good", "success",
    )  # fmt: skip
    rows = await bench.context.store.audit.page()
    assert [(row.what, row.target) for row in rows] == [("github.feedback", "acme/site#9")]


async def test_without_a_comment_there_is_a_check_alone(bench: Bench) -> None:
    assert await bench.give(check_name="Mine") == {"check": {"check_id": 0}}
    assert bench.hub.comments == []
    [(_, check)] = bench.hub.checks
    assert (check.name, check.summary) == ("Mine", "Review complete.")


async def test_it_is_written_once_however_often_it_is_sent(bench: Bench) -> None:
    sent = [bench.give(comment="Hm") for _ in range(20)]
    answers = await asyncio.gather(*sent)
    assert all(one == answers[0] for one in answers)
    assert (len(bench.hub.comments), len(bench.hub.checks)) == (1, 1)
    await bench.give(comment="Hm", key="again")
    assert len(bench.hub.comments) == 2, "a key of its own is a request of its own"
    await bench.give(comment="Hm", key="again")
    assert len(bench.hub.comments) == 2
    with pytest.raises(Conflict, match="idempotency_key_reused"):
        await bench.give(comment="Other", key="again")


@pytest.mark.fault("D7")
async def test_a_lost_answer_is_looked_for_and_not_repeated(bench: Bench) -> None:
    bench.hub.lost = Unknown("github_answer_lost", "reset", hint="Look.")
    first = await bench.give(comment="Hm")
    assert await bench.give(comment="Hm") == first
    assert (len(bench.hub.comments), len(bench.hub.checks)) == (1, 1)


async def test_limits_say_when_to_come_back(bench: Bench) -> None:
    until_ms = bench.context.clock.now_ms() + 90_000
    bench.hub.lost = QuotaHeld("installation:1", "secondary_limit", until_ms)
    with pytest.raises(Unavailable) as caught:
        await bench.give()
    assert caught.value.context["retry_after_s"] == 90


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({"owner": "../x"}, NotFound), ({"repo": ".."}, NotFound), ({"repo": "a/b"}, NotFound),
        ({"sha": "main"}, BadRequest), ({"sha": SHA.upper()}, BadRequest),
        ({"number": -1}, BadRequest), ({"comment": "\0"}, BadRequest),
        ({"comment": "x" * 60_001}, Refused),
    ],
)  # fmt: skip
async def test_what_has_no_form_is_refused(bench: Bench, given: Any, kind: Any) -> None:
    with pytest.raises(kind):
        await bench.give(**given)
    assert (bench.hub.comments, bench.hub.checks) == ([], [])


async def test_only_for_repositories_that_the_caller_may_use(bench: Bench) -> None:
    with pytest.raises(Forbidden):
        await bench.give(Caller(name="v", role="viewer"))
    with pytest.raises(NotFound):
        await bench.give(Caller(name="o", role="operator", repositories=("other",)))
    assert bench.hub.checks == []


async def test_without_a_hub_it_says_what_to_configure(bench: Bench) -> None:
    forges = Forges(bench.context.reviews, None, SERVER)
    bench.context = msgspec.structs.replace(bench.context, forges=forges)
    with pytest.raises(Permanent, match="github_not_configured"):
        await bench.give()


async def test_without_an_app_the_check_is_a_status(bench: Bench) -> None:
    bench.hub.login = "ann"
    bench.hub.lost = Unknown("github_answer_lost", "reset", hint="Look.")
    with pytest.raises(Transient, match="write_lost"):
        await bench.give(status="failure")
    for _ in range(2):
        assert await bench.give(status="failure") == {"check": {"check_id": 0}}
    assert bench.hub.statuses == [(SHA, "Agent Review", "failure")]
    assert bench.hub.checks == []
