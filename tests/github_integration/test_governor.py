"""Every rule of quota.py, by a clock that moves only when told, over the real store."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest
from fake_time import FakeTime

from agent_work_orders.errors import Broken
from agent_work_orders.github_integration.http import lane as rules
from agent_work_orders.github_integration.http import outage
from agent_work_orders.github_integration.http.governor import DurableGovernor
from agent_work_orders.github_integration.quota import PATIENCE_S, Priority, QuotaHeld
from agent_work_orders.github_integration.quota_memory import KeptQuota
from agent_work_orders.state_manager.sqlite.store import SqliteStore

MINE, OTHER = "installation:1", "installation:2"


async def made(store: SqliteStore, time: FakeTime, seed: int = 1) -> DurableGovernor:
    return DurableGovernor(
        await KeptQuota.opened(store.quota), time, chance=random.Random(seed), sleep=time.sleep
    )


@pytest.fixture
async def governor(store: SqliteStore, time: FakeTime) -> AsyncIterator[DurableGovernor]:
    yield await made(store, time)


async def ask(
    governor: DurableGovernor,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
    *,
    who: str = MINE,
    priority: Priority = "order",
    creates: bool = False,
    lost: bool = False,
) -> None:
    async with governor.turn(who, priority=priority, writes=creates, creates=creates) as turn:
        if lost:
            turn.lost()
        else:
            turn.answered(status, headers or {}, body)


async def held(governor: DurableGovernor, **how: object) -> QuotaHeld:
    with pytest.raises(QuotaHeld) as refused:
        await ask(governor, **how)  # type: ignore[arg-type]  # forwarded as given
    return refused.value


def quota(time: FakeTime, remaining: int, in_s: int = 600, **more: str) -> dict[str, str]:
    return {
        "X-RateLimit-Limit": "1000",
        "X-RateLimit-Remaining": str(remaining),
        "X-RateLimit-Reset": str(time.wall_ms // 1000 + in_s),
        **more,
    }


# -- refusals


@pytest.mark.fault("D1")
@pytest.mark.parametrize("status", [403, 429])
async def test_it_waits_exactly_as_long_as_it_was_told(
    governor: DurableGovernor, time: FakeTime, status: int
) -> None:
    await ask(governor, status, {"Retry-After": "90"})
    refused = await held(governor, priority="person")
    assert (refused.limit, refused.until_ms) == ("secondary_limit", time.wall_ms + 90_000)
    assert refused.credential == MINE
    time.pass_ms(87_999)
    assert (await held(governor)).until_ms == time.wall_ms + 2_001
    time.pass_ms(1)
    await ask(governor)  # two seconds are waited inside
    assert time.slept == [2.0]


async def test_a_date_is_a_time_too(governor: DurableGovernor, time: FakeTime) -> None:
    headers = {
        "Date": "Mon, 01 Jan 2029 10:00:00 GMT",
        "Retry-After": "Mon, 01 Jan 2029 10:05:00 GMT",
    }
    await ask(governor, 429, headers)
    assert (await held(governor)).until_ms == time.wall_ms + 300_000


@pytest.mark.fault("D2")
async def test_without_a_time_each_strike_doubles_the_wait(
    governor: DurableGovernor, time: FakeTime
) -> None:
    waits = []
    for _ in range(9):
        await ask(governor, 403, body=b"You have exceeded a secondary rate limit")
        waits.append((await held(governor)).until_ms - time.wall_ms)
        time.pass_ms(waits[-1])
    for strike, wait_ms in enumerate(waits):
        least = min(60_000 * 2**strike, 3_600_000)
        assert least <= wait_ms <= min(least * 1.25, 3_600_000)
    assert len({wait_ms % 60_000 for wait_ms in waits[:6]}) > 3, "no jitter"
    time.pass_ms(3_600_000)
    await ask(governor, 403, body=b"You have exceeded a secondary rate limit")
    assert (await held(governor)).until_ms - time.wall_ms <= 75_000, "a quiet hour forgets"


async def test_what_was_under_way_together_is_one_strike(
    governor: DurableGovernor, time: FakeTime
) -> None:
    async with asyncio.timeout(5):
        turns = [
            governor.turn(MINE, priority="order", writes=False, creates=False) for _ in range(10)
        ]
        entered = [await turn.__aenter__() for turn in turns]
        time.pass_ms(10)
        for turn in entered:
            turn.answered(403, {}, b"secondary rate limit")
        for context in turns:
            await context.__aexit__(None, None, None)
    assert governor.states()[0].strikes == 1
    assert (await held(governor)).until_ms - time.wall_ms <= 75_000


@pytest.mark.fault("D3")
async def test_a_limit_holds_its_own_credential_only(
    governor: DurableGovernor, time: FakeTime
) -> None:
    await ask(governor, 403, quota(time, 0))
    refused = await held(governor, priority="person")
    assert (refused.limit, refused.until_ms) == ("primary_limit", time.wall_ms + 601_000)
    await ask(governor, who=OTHER)
    time.pass_ms(601_000)
    await ask(governor)


# -- the hour's quota


@pytest.mark.parametrize(
    ("remaining", "goes"),
    [
        (251, {"person", "order", "background"}),
        (250, {"person", "order"}),
        (101, {"person", "order"}),
        (100, {"person"}),
        (1, {"person"}),
        (0, set()),
    ],
)
async def test_the_last_of_the_quota_is_kept_for_people(
    governor: DurableGovernor, time: FakeTime, remaining: int, goes: set[str]
) -> None:
    for priority in ("background", "order", "person"):
        await ask(governor, headers=quota(time, remaining), who=f"installation:{priority}")
        who = f"installation:{priority}"
        if priority in goes:
            await ask(governor, who=who, priority=priority)
        else:
            refused = await held(governor, who=who, priority=priority)
            assert (refused.limit, refused.until_ms) == ("primary_limit", time.wall_ms + 600_000)
    time.pass_ms(600_000)
    await ask(governor, who="installation:background", priority="background")


async def test_those_under_way_count(governor: DurableGovernor, time: FakeTime) -> None:
    await ask(governor, headers=quota(time, 102))
    first = governor.turn(MINE, priority="order", writes=False, creates=False)
    turn = await first.__aenter__()
    second = governor.turn(MINE, priority="order", writes=False, creates=False)
    await second.__aenter__()
    third = asyncio.ensure_future(ask(governor))
    await asyncio.sleep(0.01)
    assert not third.done(), "it may be the one that goes below the reserve"
    turn.answered(200, quota(time, 100), b"")
    await first.__aexit__(None, None, None)
    with pytest.raises(QuotaHeld):
        await third
    await second.__aexit__(None, None, None)


async def test_an_older_answer_does_not_raise_the_count(
    governor: DurableGovernor, time: FakeTime
) -> None:
    await ask(governor, headers=quota(time, 40))
    await ask(governor, headers=quota(time, 300), priority="person")
    assert governor.states()[0].remaining == 40
    await ask(governor, headers=quota(time, 900, in_s=4_200), priority="person")
    assert governor.states()[0].remaining == 900, "a new hour"
    await ask(governor, headers=quota(time, 5, in_s=10))
    time.pass_ms(10_000)
    await ask(governor, headers=quota(time, 999, in_s=20))
    assert governor.states()[0].remaining == 999, "the old one is over"


async def test_graphql_has_a_quota_of_its_own_and_shares_the_rest(
    governor: DurableGovernor, time: FakeTime
) -> None:
    graphql = {"X-RateLimit-Resource": "graphql"}
    body = b'{"errors": [{"type": "RATE_LIMITED"}]}'
    await ask(governor, 200, {**quota(time, 0), **graphql}, body, who=f"{MINE}:graphql")
    assert (await held(governor, who=f"{MINE}:graphql")).limit == "primary_limit"
    await ask(governor, headers=quota(time, 900))
    await ask(governor, 429, {"Retry-After": "60", **graphql}, who=f"{OTHER}:graphql")
    assert (await held(governor, who=OTHER)).limit == "secondary_limit"
    assert (await held(governor, who=f"{OTHER}:graphql")).limit == "secondary_limit"


# -- creation, points, how many at once


@pytest.mark.fault("D15")
async def test_at_most_80_are_created_a_minute_and_500_an_hour(
    governor: DurableGovernor, time: FakeTime
) -> None:
    sent: list[int] = []
    while len(sent) < 700:
        try:
            await ask(governor, creates=True)
            sent.append(time.wall_ms)
        except QuotaHeld as refused:
            assert refused.limit == "creation_limit" and refused.until_ms > time.wall_ms
            time.pass_ms(refused.until_ms - time.wall_ms)
        time.pass_ms(100)
    for span_ms, most in ((60_000, 80), (3_600_000, 500)):
        for at in sent:
            assert sum(at <= other < at + span_ms for other in sent) <= most
    assert sent[-1] - sent[0] < 3_600_000 + 4 * 60_000, "no slower than it must be"
    await ask(governor, creates=True, who=OTHER)


async def test_creation_does_not_hold_up_reading(governor: DurableGovernor, time: FakeTime) -> None:
    for _ in range(80):
        await ask(governor, creates=True)
    assert (await held(governor, creates=True)).until_ms == time.wall_ms + 60_000
    await ask(governor)


async def test_at_most_900_points_a_minute(governor: DurableGovernor, time: FakeTime) -> None:
    for _ in range(900):
        await ask(governor)
    refused = await held(governor)
    assert (refused.limit, refused.until_ms) == ("secondary_limit", time.wall_ms + 60_000)
    time.pass_ms(60_000)
    for _ in range(180):
        async with governor.turn(MINE, priority="order", writes=True, creates=False):
            pass
    await held(governor)


@pytest.mark.fault("D15")
async def test_a_bounded_number_is_under_way_and_people_go_first(
    governor: DurableGovernor, time: FakeTime
) -> None:
    order: list[str] = []
    most = now = 0
    gate = asyncio.Event()

    async def one(name: str, priority: Priority) -> None:
        nonlocal most, now
        async with governor.turn(MINE, priority=priority, writes=False, creates=False) as turn:
            now += 1
            most = max(most, now)
            order.append(name)
            await gate.wait()
            now -= 1
            turn.answered(200, {}, b"")

    full = [asyncio.ensure_future(one("first", "order")) for _ in range(rules.MOST_AT_ONCE)]
    await asyncio.sleep(0)
    kinds: list[Priority] = ["background", "order", "person"] * 5
    late = [asyncio.ensure_future(one(kind, kind)) for kind in kinds]
    for _ in range(3):
        await asyncio.sleep(0)
    gone = late.pop(1)
    gone.cancel()
    gate.set()
    async with asyncio.timeout(10):
        await asyncio.gather(*full, *late)
    assert most == rules.MOST_AT_ONCE <= 100
    assert order[rules.MOST_AT_ONCE :] == ["person"] * 5 + ["order"] * 4 + ["background"] * 5


async def test_a_persons_write_takes_the_place_that_others_waited_for(
    store: SqliteStore, time: FakeTime
) -> None:
    over = asyncio.Event()

    async def sleep(_seconds: float) -> None:
        await over.wait()

    governor = DurableGovernor(
        await KeptQuota.opened(store.quota), time, chance=random.Random(1), sleep=sleep
    )
    await ask(governor, creates=True)
    time.pass_ms(30_000)
    for _ in range(rules.CREATES_PER_MINUTE - 1):
        await ask(governor, creates=True)
    time.pass_ms(28_500)
    kinds: list[Priority] = ["background", "order", "person"]
    waiting = [asyncio.ensure_future(ask(governor, creates=True, priority=kind)) for kind in kinds]
    await asyncio.sleep(0.01)
    time.pass_ms(1_500)  # one of those within the last minute is older now
    over.set()
    async with asyncio.timeout(5):
        ended = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(one) for one in ended] == [QuotaHeld, QuotaHeld, type(None)]


async def test_who_waits_for_others_is_told_of_a_hold(
    governor: DurableGovernor, time: FakeTime
) -> None:
    turns = [
        governor.turn(MINE, priority="order", writes=False, creates=False)
        for _ in range(rules.MOST_AT_ONCE)
    ]
    entered = [await turn.__aenter__() for turn in turns]
    waiting = asyncio.ensure_future(ask(governor, priority="person"))
    await asyncio.sleep(0.01)
    assert not waiting.done()
    entered[0].answered(429, {"Retry-After": "60"}, b"")
    await turns[0].__aexit__(None, None, None)
    with pytest.raises(QuotaHeld):
        async with asyncio.timeout(5):
            await waiting
    for turn in turns[1:]:
        await turn.__aexit__(None, None, None)


async def test_who_is_cancelled_while_let_through_gives_its_place_back(
    governor: DurableGovernor,
) -> None:
    turns = [
        governor.turn(MINE, priority="order", writes=False, creates=False)
        for _ in range(rules.MOST_AT_ONCE)
    ]
    for turn in turns:
        await turn.__aenter__()
    waiting = asyncio.ensure_future(ask(governor))
    await asyncio.sleep(0.01)
    await turns[0].__aexit__(None, None, None)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    async with asyncio.timeout(5):
        await ask(governor)


async def test_who_leaves_takes_no_place(governor: DurableGovernor, time: FakeTime) -> None:
    for _ in range(rules.MOST_AT_ONCE + 1):
        with pytest.raises(RuntimeError):
            async with governor.turn(MINE, priority="order", writes=False, creates=False):
                raise RuntimeError
    await ask(governor)


# -- remembering


@pytest.mark.fault("D1")
async def test_a_restart_in_the_middle_keeps_the_hold(
    tmp_path: Path, store: SqliteStore, time: FakeTime
) -> None:
    first = await made(store, time)
    await ask(first, headers=quota(time, 60), who=OTHER)
    for _ in range(80):
        await ask(first, creates=True)
    await ask(first, 403, body=b"secondary rate limit")
    until_ms = (await held(first, priority="person")).until_ms
    # Durable already: nothing was settled or closed.
    time.pass_ms(10_000)
    second = await made(store, time)
    assert (await held(second, priority="person")).until_ms == until_ms
    assert second.states() == first.states()
    assert (await held(second, who=OTHER)).limit == "primary_limit"
    time.pass_ms(until_ms - time.wall_ms)
    third = await made(store, time)
    await ask(third)
    await ask(third, 403, body=b"secondary rate limit")
    assert (await held(third)).until_ms - time.wall_ms >= 120_000, "strikes are remembered"


async def test_creation_is_remembered(store: SqliteStore, time: FakeTime) -> None:
    first = await made(store, time)
    for _ in range(80):
        await ask(first, creates=True)
    await store.quota.settle()
    time.pass_ms(20_000)
    second = await made(store, time)
    assert (await held(second, creates=True)).until_ms == time.wall_ms + 40_000


async def test_nothing_is_sent_before_the_hold_is_kept(store: SqliteStore, time: FakeTime) -> None:
    class Failing(KeptQuota):
        async def settle(self) -> None:
            raise Broken("journal_halted", "the disk failed")

    governor = DurableGovernor(
        await Failing.opened(store.quota), time, chance=random.Random(1), sleep=time.sleep
    )
    await ask(governor, 429, {"Retry-After": "60"})  # its answer is not lost
    with pytest.raises(Broken):
        await ask(governor, who=OTHER)


async def test_unreadable_memories_are_left_out(store: SqliteStore, time: FakeTime) -> None:
    store.quota.save("token:bad", "{")
    store.quota.save("token:good", '{"credential": "token:good", "strikes": 1}')
    await store.quota.settle()
    assert [state.credential for state in (await made(store, time)).states()] == ["token:good"]


# -- clocks


async def test_a_clock_that_jumps_back_prolongs_nothing(
    governor: DurableGovernor, store: SqliteStore, time: FakeTime
) -> None:
    await ask(governor, 429, {"Retry-After": "100"})
    for _ in range(80):
        await ask(governor, creates=True, who=OTHER)
    await store.quota.settle()
    time.jump_ms(-7_200_000)
    assert (await held(governor)).until_ms == time.wall_ms + 100_000
    assert (await held(governor, creates=True, who=OTHER)).until_ms == time.wall_ms + 60_000
    again = await made(store, time)
    assert (await held(again, creates=True, who=OTHER)).until_ms == time.wall_ms + 60_000
    time.pass_ms(100_000)
    await ask(governor)
    await ask(governor, creates=True, who=OTHER)
    assert governor.states()[0].held_until_ms is None


async def test_slept_time_counts(governor: DurableGovernor, time: FakeTime) -> None:
    await ask(governor, 429, {"Retry-After": "100"})
    time.jump_ms(100_000)
    await ask(governor)


async def test_how_it_stands_is_told(governor: DurableGovernor, time: FakeTime) -> None:
    await ask(governor, headers=quota(time, 400))
    await ask(governor, 429, {"Retry-After": "60"})
    await held(governor)
    await ask(governor, who=f"{OTHER}:graphql", lost=True)
    under_way = governor.turn(OTHER, priority="order", writes=False, creates=False)
    await under_way.__aenter__()
    now = governor.report()
    assert (now.sent, now.held, now.limited, now.failed) == (4, 1, 1, 1)
    assert (now.under_way, now.waiting, now.unavailable_until_ms) == (1, 0, None)
    assert (now.credentials[0].credential, now.credentials[0].remaining) == (MINE, 400)
    assert now.credentials[0].held_until_ms == time.wall_ms + 60_000
    await under_way.__aexit__(None, None, None)
    for _ in range(outage.FAILURES - 1):
        await ask(governor, 502, who=OTHER)
    now = governor.report()
    assert (now.failed, now.under_way) == (outage.FAILURES, 0)
    assert now.unavailable_until_ms == pytest.approx(time.wall_ms + outage.FIRST_S * 1000, abs=2)


# -- outages


@pytest.mark.fault("D4")
async def test_after_many_failures_nothing_is_sent_until_a_probe_succeeds(
    governor: DurableGovernor, time: FakeTime
) -> None:
    for n in range(outage.FAILURES):
        await ask(governor, 503 if n % 2 else 200, lost=not n % 2, who=f"installation:{n}")
    refused = await held(governor)
    assert refused.limit == "github_unavailable"
    assert refused.until_ms - time.wall_ms == pytest.approx(outage.FIRST_S * 1000, abs=2)
    time.pass_ms(int(outage.FIRST_S * 1000))

    probe = governor.turn(MINE, priority="order", writes=False, creates=False)
    turn = await probe.__aenter__()
    assert (await held(governor, who=OTHER)).limit == "github_unavailable", "one probe at a time"
    turn.answered(502, {}, b"")
    await probe.__aexit__(None, None, None)
    wait_ms = (await held(governor)).until_ms - time.wall_ms
    assert wait_ms == pytest.approx(2 * outage.FIRST_S * 1000, abs=2)

    time.pass_ms(wait_ms)
    with pytest.raises(asyncio.CancelledError):
        async with governor.turn(MINE, priority="order", writes=False, creates=False):
            raise asyncio.CancelledError
    await ask(governor)  # the probe that was given up leaves its place to this one
    await ask(governor, who=OTHER)


async def test_one_success_starts_the_count_anew(governor: DurableGovernor) -> None:
    for _ in range(3):
        for _ in range(outage.FAILURES - 1):
            await ask(governor, 500)
        await ask(governor, 404)


async def test_the_wait_of_an_outage_is_bounded(governor: DurableGovernor, time: FakeTime) -> None:
    longest = 0
    for _ in range(80):
        try:
            await ask(governor, lost=True)
        except QuotaHeld as refused:
            longest = max(longest, refused.until_ms - time.wall_ms)
            time.pass_ms(refused.until_ms - time.wall_ms)
    assert longest == pytest.approx(outage.LONGEST_S * 1000, abs=2)


async def test_random_histories_never_send_while_held(store: SqliteStore, time: FakeTime) -> None:
    """A model: whatever is answered, nothing goes before the last hold that was told is over."""
    chance = random.Random(7)
    governor = await made(store, time)
    free_at: dict[str, int] = {}
    granted = refusals = 0
    for step in range(3_000):
        who = chance.choice([MINE, OTHER, "token:ab12"])
        if step % 97 == 0:
            await store.quota.settle()
            governor = await made(store, time)
        try:
            async with governor.turn(
                who, priority="person", writes=False, creates=chance.random() < 0.3
            ) as turn:
                granted += 1
                assert time.wall_ms >= free_at.get(who, 0)
                if chance.random() < 0.1:
                    wait_s = chance.randrange(0, 200)
                    turn.answered(429, {"Retry-After": str(wait_s)}, b"")
                    free_at[who] = time.wall_ms + wait_s * 1000
                else:
                    turn.answered(200, {}, b"")
        except QuotaHeld as refused:
            refusals += 1
            assert refused.until_ms - time.wall_ms > PATIENCE_S * 1000
        time.pass_ms(chance.randrange(0, 5_000))
    assert granted > 300 and refusals > 300
