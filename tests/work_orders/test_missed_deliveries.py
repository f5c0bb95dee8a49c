"""What GitHub sent in vain is asked for again: what is needed, once, and ever more rarely."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from intake_bench import NOW_MS, Desk, labeled

from agent_work_orders.errors import NotFound, Transient
from agent_work_orders.github_integration.hook import Sent
from agent_work_orders.github_integration.quota import QuotaHeld
from agent_work_orders.work_orders.context import Context
from agent_work_orders.work_orders.incoming import event_types, github_event, triggers
from agent_work_orders.work_orders.incoming.missed_deliveries import (
    AT_ONCE,
    EVERY_S,
    OVERLAP_MS,
    MissedDeliveries,
)

DAY_MS = 86_400_000


class FakeHook:
    """Redelivers into the store, as the webhook would, unless it is told to fail."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.attempts: list[Sent] = []
        self.asked: list[str] = []
        self.since: list[int] = []
        self.reachable = True
        self.trouble: Exception | None = None
        self.gone: set[int] = set()

    def missed(self, number: int, event: str = "issues", action: str = "labeled") -> str:
        guid = f"00000000-0000-4000-8000-{number:012d}"
        self.attempts.append(
            Sent(
                attempt_id=number, guid=guid, event=event, action=action,
                at_ms=self.desk.clock.at_ms,
            )
        )  # fmt: skip
        return guid

    async def failed(self, since_ms: int) -> list[Sent]:
        self.since.append(since_ms)
        if self.trouble is not None:
            raise self.trouble
        return [one for one in reversed(self.attempts) if one.at_ms >= since_ms]

    async def redeliver(self, attempt_id: int) -> None:
        if attempt_id in self.gone:
            raise NotFound("github_not_found", "gone", hint="Look.")
        [one] = [each for each in self.attempts if each.attempt_id == attempt_id]
        self.asked.append(one.guid)
        if self.reachable:
            await self.desk.take("issues", labeled(number=attempt_id), one.guid)


@pytest.fixture
async def desk(folder: Path) -> AsyncIterator[Desk]:
    async with Desk(folder).opened() as opened:
        for number in range(1, 4):
            opened.hub.put_issue(number)
        yield opened


@pytest.fixture
def hook(desk: Desk) -> FakeHook:
    return FakeHook(desk)


@pytest.fixture
def lines() -> list[Any]:
    return []


@pytest.fixture
def missed(desk: Desk, hook: FakeHook) -> MissedDeliveries:
    return MissedDeliveries(desk.house.context, hook)


@pytest.mark.fault("C7")
async def test_what_was_missed_makes_its_order_once(
    desk: Desk, hook: FakeHook, missed: MissedDeliveries
) -> None:
    both = [hook.missed(1), hook.missed(2)]
    assert await missed.look() == 2
    assert hook.asked == both, "the oldest first"
    assert hook.since == [NOW_MS - 3 * DAY_MS], "the first time, all that is kept there"
    await desk.intake.sweep()
    assert sorted(str(one.github_issue_number) for one in await desk.orders()) == ["1", "2"]
    desk.clock.at_ms += 10 * DAY_MS // 24
    assert await missed.look() == 0
    assert hook.since[1] == NOW_MS - OVERLAP_MS, "later only what is new"
    again = MissedDeliveries(desk.house.context, hook)
    assert await again.look() == 0, "nor after a restart, though it is still listed as failed"
    assert len(await desk.orders()) == 2


@pytest.mark.fault("C7")
async def test_what_was_only_noted_is_asked_for_again(
    desk: Desk, hook: FakeHook, missed: MissedDeliveries
) -> None:
    """It was refused when there was no room: that it is in the list does not mean it was taken."""
    guid = hook.missed(1)
    await desk.house.context.store.deliveries.note(
        guid, "issues", "20000 wait (intake_full)", NOW_MS
    )
    assert await missed.look() == 1
    await desk.intake.sweep()
    assert len(await desk.orders()) == 1
    found = await desk.house.context.store.deliveries.find(guid)
    assert found is not None and found.state == "handled"


@pytest.mark.fault("A2")
async def test_what_is_here_is_not_asked_for_again(
    desk: Desk, hook: FakeHook, missed: MissedDeliveries
) -> None:
    """It was stored, and killed before the answer: the service thinks that it failed."""
    guid = hook.missed(1)
    await desk.take("issues", labeled(number=1), guid)
    assert await missed.look() == 0
    await desk.intake.sweep()
    assert await missed.look() == 0
    assert len(await desk.orders()) == 1


async def test_what_asks_for_nothing_is_not_fetched(hook: FakeHook, missed: Any) -> None:
    for number, (event, action) in enumerate(
        [("issues", "opened"), ("star", "created"), ("ping", ""), ("issue_comment", "edited")]
    ):
        hook.missed(number + 1, event, action)
    wanted = hook.missed(9, "issue_comment", "created")
    assert await missed.look() == 1
    assert hook.asked == [wanted]


def test_whatever_may_ask_is_worth_fetching() -> None:
    """By name and action alone nothing is left out that would be acted on."""
    sender = github_event.Person(login="ann", user_id=1)
    check = github_event.CheckEvent(
        check_id=1, suite=False, name="x", conclusion="failure", external_id="", branch="main",
        head_sha="a" * 40, app="x", pulls=(),
    )  # fmt: skip
    remark = github_event.PostedComment(
        comment_id=1, kind="comment", author=sender, text="/awo run", by_app=False
    )
    actions = [
        "", "labeled", "assigned", "opened", "closed", "synchronize", "reopened", "created",
        "ready_for_review", "completed", "rerequested", "submitted", "edited", "deleted",
        "suspend", "unsuspend", "added", "removed", "renamed", "transferred", "archived",
    ]  # fmt: skip
    seen = 0
    for name in sorted(event_types.EVENT_TYPES):
        for action in actions:
            event = github_event.GitHubEvent(
                name=name, action=action, sender=sender, branch="main", check=check, remark=remark
            )
            if triggers.may_ask(event) or triggers.access_change(event) is not None:
                seen += 1
                assert event_types.could_ask(name, action), (name, action)
    assert seen > 20


async def test_one_that_fails_again_is_asked_for_ever_more_rarely(
    desk: Desk, hook: FakeHook, missed: MissedDeliveries
) -> None:
    hook.reachable = False
    hook.missed(1)
    for _ in range(3 * 24 * 15 + 60):
        await missed.look()
        desk.clock.at_ms += int(EVERY_S * 1000)
    assert 10 < len(hook.asked) < 30, "three days long, and never after that"
    hook.asked.clear()
    hook.missed(2)
    await missed.look()
    hook.reachable = True
    desk.clock.at_ms += int(EVERY_S * 1000)
    await missed.look()
    await desk.intake.sweep()
    assert [one.github_issue_number for one in await desk.orders()] == ["2"]


async def test_many_are_asked_for_a_few_at_a_time(
    desk: Desk, hook: FakeHook, lines: list[Any]
) -> None:
    missed = MissedDeliveries(_logged(desk, lines), hook)
    for number in range(1, 2 * AT_ONCE + 51):
        hook.missed(number)
    assert [await missed.look() for _ in range(4)] == [AT_ONCE, AT_ONCE, 50, 0]
    assert len(set(hook.asked)) == 2 * AT_ONCE + 50
    assert [line[3]["left"] for line in lines] == [AT_ONCE + 50, 50, 0]


async def test_people_go_before_machines(hook: FakeHook, missed: MissedDeliveries) -> None:
    for number in range(1, 201):
        hook.missed(number, "check_run", "completed")
    wish = hook.missed(300, "issue_comment", "created")
    await missed.look()
    assert hook.asked[0] == wish


async def test_one_that_the_service_does_not_know_holds_up_nobody(
    hook: FakeHook, missed: MissedDeliveries
) -> None:
    hook.missed(1)
    second = hook.missed(2)
    hook.gone = {1}
    await missed.look()
    assert hook.asked == [second]


@pytest.mark.parametrize(
    "trouble",
    [
        Transient("github_unreachable", "no route", hint="Wait."),
        QuotaHeld("app:1", "primary_limit", NOW_MS + 60_000),
    ],
)
async def test_while_it_cannot_ask_it_says_so_once_and_forgets_nothing(
    desk: Desk, hook: FakeHook, lines: list[Any], trouble: Exception
) -> None:
    waits: list[float] = []
    hook.trouble = trouble

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        desk.clock.at_ms += int(seconds * 1000)
        if len(waits) == 20:
            hook.trouble = None
            hook.missed(1)
        if len(waits) == 22:
            raise asyncio.CancelledError

    hook.missed(2)
    with pytest.raises(asyncio.CancelledError):
        await MissedDeliveries(_logged(desk, lines), hook, sleep=sleep).run()
    assert set(waits) == {EVERY_S} and EVERY_S < 300
    assert len(hook.asked) == 2, "also what was missed long before"
    assert [line[1] for line in lines] == ["deliveries_unchecked", "deliveries_missed"]


def _logged(desk: Desk, lines: list[Any]) -> Context:
    return msgspec.structs.replace(desk.house.context, log=lambda *line: lines.append(line))
