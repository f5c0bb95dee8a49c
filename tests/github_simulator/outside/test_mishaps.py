"""Every fault as a client meets it: whether it took effect, and what came over the wire."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from github_simulator.outside.faults import Fault

pytestmark = pytest.mark.slow


async def create(cast: Any, **more: Any) -> httpx.Response:
    answer: httpx.Response = await cast.ask(
        "POST", f"{cast.path}/issues", cast.token(), json={"title": "x"}, **more
    )
    return answer


def issues(cast: Any) -> int:
    return len(cast.repository.issues)


@pytest.mark.fault("D7")
@pytest.mark.parametrize("applied", [False, True])
@pytest.mark.parametrize("kind", ["drop", "reset"])
async def test_the_connection_ends_without_an_answer(cast: Any, kind: Any, applied: bool) -> None:
    cast.github.faults.add(Fault(kind=kind, applied=applied, operation="issues/create"))
    with pytest.raises(httpx.TransportError):
        await create(cast)
    assert issues(cast) == int(applied)
    assert cast.github.requests.all[-1].status == 0
    assert (await create(cast)).status_code == 201


@pytest.mark.parametrize("applied", [False, True])
async def test_a_reset_is_a_reset(cast: Any, applied: bool) -> None:
    cast.github.faults.add(Fault(kind="reset", applied=applied))
    port = int(cast.github.url.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /users/ada HTTP/1.1\r\nhost: x\r\nuser-agent: t\r\n\r\n")
    with pytest.raises(ConnectionResetError):
        await reader.read()
    writer.close()


@pytest.mark.fault("D5")
@pytest.mark.parametrize("applied", [False, True])
async def test_nothing_is_answered_until_the_client_gives_up(cast: Any, applied: bool) -> None:
    cast.github.faults.add(Fault(kind="hang", applied=applied, method="POST"))
    with pytest.raises(httpx.ReadTimeout):
        await create(cast, timeout=0.5)
    assert issues(cast) == int(applied)


@pytest.mark.fault("D4")
@pytest.mark.parametrize("applied", [False, True])
@pytest.mark.parametrize("status", [500, 502, 503, 504])
async def test_a_server_error_before_or_after(cast: Any, status: int, applied: bool) -> None:
    cast.github.faults.add(Fault(kind="status", status=status, applied=applied))
    assert (await create(cast)).status_code == status
    assert issues(cast) == int(applied)


@pytest.mark.fault("D6")
async def test_bodies_that_cannot_be_read(cast: Any) -> None:
    cast.github.faults.add(Fault(kind="truncated", method="POST"))
    with pytest.raises(httpx.RemoteProtocolError):
        await create(cast)
    assert issues(cast) == 1
    for kind in ("html", "empty", "charset"):
        cast.github.faults.add(Fault(kind=kind, applied=True))  # type: ignore[arg-type]
        answer = await create(cast)
        assert answer.is_success
        with pytest.raises(ValueError, match=r"."):
            answer.json()
    assert issues(cast) == 4
    cast.github.faults.add(Fault(kind="wrong_type", applied=True))
    assert (await create(cast)).json() == "ok"


async def test_html_in_place_of_an_effect(cast: Any) -> None:
    cast.github.faults.add(Fault(kind="html"))
    answer = await create(cast)
    assert (answer.status_code, issues(cast)) == (200, 0)
    assert answer.headers["content-type"].startswith("text/html")


async def test_a_slow_body_is_whole_in_the_end(cast: Any) -> None:
    cast.github.faults.add(Fault(kind="slow", seconds=0.2))
    assert (await create(cast)).json()["number"] == 1


async def test_a_slow_body_outlasts_a_deadline(cast: Any) -> None:
    cast.github.faults.add(Fault(kind="slow", seconds=60.0))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1.0):
            await create(cast)
    assert issues(cast) == 1


@pytest.mark.fault("D2")
async def test_a_secondary_limit_holds_for_a_while(cast: Any) -> None:
    cast.clock.freeze()
    cast.github.faults.add(Fault(kind="secondary", seconds=30))
    refused = await create(cast)
    assert (refused.status_code, refused.headers["retry-after"]) == (403, "30")
    assert issues(cast) == 0
    assert (await create(cast)).status_code == 403
    assert len(cast.github.sent_while_limited) == 1
    cast.clock.advance(30)
    assert (await create(cast)).status_code == 201


@pytest.mark.fault("D12")
async def test_redirects(cast: Any) -> None:
    cast.github.faults.add(Fault(kind="moved"), Fault(kind="elsewhere", location="http://x.test/"))
    moved = await cast.ask("GET", f"{cast.path}/issues?state=all", cast.token())
    assert moved.status_code == 301
    here = f"{cast.github.url}/repositories/{cast.repository.id}/issues?state=all"
    assert moved.headers["location"] == here
    assert (await cast.ask("GET", here, cast.token())).status_code == 200
    cast.github.faults.add(Fault(kind="elsewhere", location="http://x.test/"))
    away = await cast.ask("GET", cast.path, cast.token())
    assert (away.status_code, away.headers["location"]) == (302, "http://x.test/")


@pytest.mark.fault("D11")
async def test_what_was_just_created_cannot_be_read_yet(cast: Any) -> None:
    cast.github.faults.add(Fault(kind="lag", method="POST", reads=2))
    made = (await create(cast)).json()
    token = cast.token()
    assert (await cast.ask("GET", made["url"], token)).status_code == 404
    assert (await cast.ask("GET", f"{cast.path}/issues", token)).json() == []
    assert (await cast.ask("GET", made["url"], token)).status_code == 200
    assert len((await cast.ask("GET", f"{cast.path}/issues", token)).json()) == 1


@pytest.mark.fault("D10")
async def test_a_list_that_never_ends(cast: Any) -> None:
    cast.github.faults.add(Fault(kind="loop", method="GET"))
    answer = await cast.ask("GET", f"{cast.path}/issues?page=1", cast.token())
    assert answer.links["next"]["url"] == f"{cast.github.url}{cast.path}/issues?page=1"


async def test_the_simulator_ends_while_somebody_hangs(cast: Any) -> None:
    cast.github.faults.add(Fault(kind="hang"))
    hanging = asyncio.create_task(create(cast))
    while not cast.github.faults.hits:
        await asyncio.sleep(0.01)
    await cast.github.close()
    with pytest.raises(httpx.TransportError):
        await hanging


async def test_a_fault_for_bodies_that_contain_a_text(cast: Any) -> None:
    fault = Fault(kind="drop", applied=True, operation="issues/create", contains='"x"')
    cast.github.faults.add(fault, Fault(kind="lag", reads=0, contains="labels"))
    other = {"json": {"title": "y", "labels": ["new"]}}
    assert (await cast.ask("GET", cast.path, cast.token())).status_code == 200
    made = await cast.ask("POST", f"{cast.path}/issues", cast.token(), **other)
    assert made.status_code == 201 and cast.github.faults.waiting == [fault]
    with pytest.raises(httpx.TransportError):
        await create(cast)
    assert issues(cast) == 2
    assert [one.kind for one in cast.github.faults.answered] == ["lag"]
