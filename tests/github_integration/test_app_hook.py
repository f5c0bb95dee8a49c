"""Retrying GitHub for deliveries that failed, against the simulator and its refusals."""

from __future__ import annotations

import sys
from pathlib import Path
from urllib.parse import parse_qsl

import msgspec
import pytest
from test_against_simulator import HERE, Stage, stage

from agent_work_orders.errors import NotFound
from agent_work_orders.github_integration.hook import MOST_PAGES, Sent
from agent_work_orders.github_integration.resources.app_hook import AppHook
from github_simulator.outside.deliveries import Delivery

sys.path.append(str(Path(__file__).parents[1]))

from github_descriptions import validate_request

NOWHERE = "http://127.0.0.1:9/hook"
DAY_S = 86_400


def hook_of(it: Stage) -> AppHook:
    [app] = it.github.world.apps.values()
    app.webhook_url = NOWHERE
    app.events = ("issues",)
    return AppHook(it.credentials, it.github.url)


async def open_issues(it: Stage, count: int) -> None:
    for number in range(count):
        await it.client.send("POST", HERE, "issues", {"title": f"{number}"})
    await it.github.deliveries.settled()


async def failed(it: Stage, hook: AppHook, days: int = 3) -> list[Sent]:
    return await hook.failed(it.github.clock.now_ms() - days * DAY_S * 1000)


@pytest.mark.fault("C7")
async def test_what_failed_is_listed_and_sent_again(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        hook = hook_of(it)
        await open_issues(it, 2)
        [newest, oldest] = await failed(it, hook)
        assert (newest.event, newest.action) == ("issues", "opened")
        assert newest.attempt_id > oldest.attempt_id and newest.guid != oldest.guid
        assert abs(newest.at_ms - it.github.clock.now_ms()) < 60_000
        await hook.redeliver(oldest.attempt_id)
        await it.github.deliveries.settled()
        [again, *_] = await failed(it, hook)
        assert (again.guid, again.attempt_id == oldest.attempt_id) == (oldest.guid, False)


async def test_good_ones_are_left_out_also_by_a_server_that_lists_them(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        hook = hook_of(it)
        await open_issues(it, 2)
        it.github.deliveries.kept[0].status_code = 202
        assert [one.attempt_id for one in await failed(it, hook)] == [
            it.github.deliveries.kept[1].id
        ]


@pytest.mark.fault("D10")
async def test_the_list_is_read_page_by_page_as_far_as_it_is_new(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        hook = hook_of(it)
        await open_issues(it, 1)
        [one] = it.github.deliveries.kept
        it.github.deliveries.kept += [_copy(one, n, age_s=250 - n) for n in range(1, 250)]
        assert len(await failed(it, hook)) == 250
        asked = it.github.requests.of("apps/list-webhook-deliveries")
        assert len(asked) == 3
        since_ms = one.delivered_ms // 1000 * 1000 - 150_000
        assert len(await hook.failed(since_ms)) == 150
        assert len(it.github.requests.of("apps/list-webhook-deliveries")) == 5


async def test_a_list_without_end_is_not_read_to_the_end(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        hook = hook_of(it)
        await open_issues(it, 1)
        [one] = it.github.deliveries.kept
        more = MOST_PAGES * 100 + 200
        it.github.deliveries.kept += [_copy(one, n) for n in range(1, more)]
        assert len(await failed(it, hook)) == MOST_PAGES * 100


async def test_what_is_kept_no_longer_is_not_found(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        hook = hook_of(it)
        await open_issues(it, 1)
        [one] = await failed(it, hook)
        it.github.clock.advance(3 * DAY_S + 60)
        with pytest.raises(NotFound):
            await hook.redeliver(one.attempt_id)
        assert await failed(it, hook, days=9) == []


async def test_a_proof_that_is_refused_is_made_anew(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        hook = hook_of(it)
        await open_issues(it, 1)
        await failed(it, hook)
        it.github.clock.advance(1_800)
        assert len(await failed(it, hook)) == 1


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/app/hook/deliveries?per_page=100&status=failure"),
        ("GET", "/app/hook/deliveries?per_page=100&status=failure&cursor=v1_5"),
        ("POST", "/app/hook/deliveries/7/attempts"),
    ],
)
def test_it_is_what_github_describes(method: str, path: str) -> None:
    bare, _, query = path.partition("?")
    assert validate_request(method, bare, dict(parse_qsl(query)))


def _copy(one: Delivery, number: int, age_s: int = 0) -> Delivery:
    return msgspec.structs.replace(
        one,
        id=one.id + number,
        guid=f"{number:036d}",
        delivered_ms=one.delivered_ms - age_s * 1000,
    )
