"""What is asked, what is repeated, and what each kind of answer means."""

from __future__ import annotations

import asyncio
import gzip
import random
import tracemalloc
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from fake_time import FakeTime
from small_service import Heard, Reply, SmallService

from agent_work_orders.errors import (
    AgentWorkOrdersError,
    Broken,
    Environmental,
    NotFound,
    Permanent,
    Transient,
    Unknown,
)
from agent_work_orders.github_integration.client import GithubClient
from agent_work_orders.github_integration.forge import Repository
from agent_work_orders.github_integration.http.etags import LARGEST_BYTES, Etags
from agent_work_orders.github_integration.http.governor import DurableGovernor
from agent_work_orders.github_integration.http.one_request import Exchange, HttpAnswer
from agent_work_orders.github_integration.http.retrying import Retrying
from agent_work_orders.github_integration.identity.credentials import TokenCredentials
from agent_work_orders.github_integration.quota import QuotaHeld
from agent_work_orders.github_integration.quota_memory import KeptQuota
from agent_work_orders.github_integration.transport import Transport
from agent_work_orders.state_manager.sqlite.store import SqliteStore

HERE = Repository(key="k", full_name="acme/shop")
TOKEN = "ghp_" + "Ab1" * 12
Said = Callable[[Heard], Any]
Opened = Callable[..., Any]


class Scene:
    def __init__(self, client: GithubClient, service: SmallService, time: FakeTime) -> None:
        self.client: Transport = client
        self.settled = client.settled
        self.service = service
        self.time = time

    @property
    def paths(self) -> list[str]:
        return [f"{heard.method} {heard.path}" for heard in self.service.heard]


@pytest.fixture
def scene(store: SqliteStore, time: FakeTime) -> Opened:
    @asynccontextmanager
    async def opened(
        answering: Said, *, deadline_s: float = 20.0, limit_bytes: int = 100_000, base: str = ""
    ) -> AsyncIterator[Scene]:
        async with (
            SmallService(answering) as service,
            Exchange(trusted=None, deadline_s=deadline_s, body_limit_bytes=limit_bytes) as exchange,
        ):
            chance = random.Random(3)
            governor = DurableGovernor(
                await KeptQuota.opened(store.quota), time, chance=chance, sleep=time.sleep
            )
            asking = Retrying(
                exchange,
                governor,
                time,
                api_url=service.url + base,
                chance=chance,
                sleep=time.sleep,
            )
            credentials = TokenCredentials(asking, TOKEN)
            client = GithubClient(asking, credentials, time, sleep=time.sleep)
            yield Scene(client, service, time)

    return opened


def always(**reply: Any) -> Said:
    return lambda heard: Reply(**reply)


def one_by_one(*replies: Reply) -> Said:
    waiting = list(replies)
    return lambda heard: waiting.pop(0)


async def failure(doing: Any) -> AgentWorkOrdersError:
    with pytest.raises(AgentWorkOrdersError) as failed:
        await doing
    assert failed.value.hint
    return failed.value


# -- the request


async def test_what_every_request_carries(scene: Opened) -> None:
    async with scene(always(value={"a": 1}), base="/api/v3") as it:
        assert await it.client.get(HERE, "issues/7", query={"state": "all"}) == {"a": 1}
        assert await it.client.send("POST", HERE, "issues", {"title": "ü"}) == {"a": 1}
        read, written = it.service.heard
    assert read.path == "/api/v3/repos/acme/shop/issues/7?state=all"
    assert read.token == TOKEN
    assert read.headers["x-github-api-version"] == "2022-11-28"
    assert read.headers["accept"] == "application/vnd.github+json"
    assert read.headers["user-agent"].startswith("agent-work-orders/")
    assert read.headers["accept-encoding"] == "gzip"
    assert written.json == {"title": "ü"} and written.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("acme/shop", "../../user"), ("acme/shop", "a/./b"), ("acme/shop", "a?b=c"),
        ("acme/shop", "a#b"), ("acme/shop", "a b"), ("acme/shop", "a\nb"), ("acme/shop", "ä"),
        ("acme/..", ""), ("../user", ""), ("acme", ""), ("acme/shop/x", ""), ("", ""),
        ("acme/shop?", ""), ("acme/sh\nop", ""),
    ],
)  # fmt: skip
async def test_a_path_stays_below_its_repository(scene: Opened, name: str, path: str) -> None:
    async with scene(always()) as it:
        with pytest.raises(Broken, match="Not a path"):
            await it.client.get(Repository(key="k", full_name=name), path)
        with pytest.raises(Broken, match="Not a path"):
            await it.client.send("DELETE", Repository(key="k", full_name=name), path)
        assert it.paths == []


# -- answers that cannot be believed

HTML = {"Content-Type": "text/html"}
LATIN = {"Content-Type": "application/json; charset=latin-1"}
LOST = {
    "500": Reply(status=500, value={"message": "Server Error"}),
    "502": Reply(status=502, raw=b"<html>Bad gateway</html>", headers=HTML),
    "503": Reply(status=503, value={}),
    "504": Reply(status=504, raw=b""),
    "408": Reply(status=408, value={}),
    "reset": Reply(reset=True),
    "cut body": Reply(status=201, value={"id": 1, "body": "x" * 500}, cut=50),
    "cut head": Reply(status=201, value={"id": 1}, cut=0),
    "cut json": Reply(status=201, raw=b'{"id": 1, "bo'),
    "html 200": Reply(raw=b"<html>", headers=HTML),
    "html typed as json": Reply(raw=b"<html>"),
    "empty 200": Reply(raw=b""),
    "charset": Reply(raw=b'{"a": "\xe4"}', headers=LATIN),
    "not utf-8": Reply(raw=b'{"a": "\xe4"}'),
    "a proxy's refusal": Reply(status=403, raw=b"<html>no</html>", headers=HTML),
    "packed wrongly": Reply(raw=b"{}", headers={"Content-Encoding": "br"}),
    "packed and cut": Reply(raw=b"\x1f\x8b\x08\x00", headers={"Content-Encoding": "gzip"}),
    "packed without its end": Reply(
        raw=gzip.compress(b'{"id": 1}')[:-4], headers={"Content-Encoding": "gzip"}
    ),
    "304 unasked": Reply(status=304),
    "300": Reply(status=300, value={}),
}  # fmt: skip


@pytest.mark.fault("D6")
@pytest.mark.fault("D7")
@pytest.mark.parametrize("name", LOST)
async def test_a_write_is_sent_once_and_unknown_when_its_answer_is_lost(
    scene: Opened, name: str
) -> None:
    async with scene(lambda heard: LOST[name]) as it:
        failed = await failure(it.client.send("POST", HERE, "issues/7/comments", {"body": "b"}))
        assert isinstance(failed, Unknown) and failed.code == "github_answer_lost"
        assert it.paths == ["POST /repos/acme/shop/issues/7/comments"]


@pytest.mark.fault("D4")
@pytest.mark.fault("D6")
@pytest.mark.parametrize("name", LOST)
async def test_a_read_is_tried_again_and_then_given_up(scene: Opened, name: str) -> None:
    async with scene(lambda heard: LOST[name]) as it:
        failed = await failure(it.client.get(HERE, "issues/7"))
        assert isinstance(failed, Transient) and failed.code == "github_unreachable"
        assert it.paths == ["GET /repos/acme/shop/issues/7"] * 3
        assert len(it.time.slept) == 2 and 0.5 <= it.time.slept[0] <= 1 <= it.time.slept[1] <= 2
    async with scene(one_by_one(LOST[name], LOST[name], Reply(value=[1]))) as it:
        assert await it.client.get(HERE, "issues/7") == [1]


@pytest.mark.fault("D5")
@pytest.mark.parametrize(
    "reply",
    [Reply(silent=True), Reply(value={"a": "x" * 100}, cut=0, hang=True), Reply(cut=2, hang=True)],
    ids=["silent", "head only", "half a body"],
)
async def test_the_deadline_is_for_everything_together(scene: Opened, reply: Reply) -> None:
    async with scene(lambda heard: reply, deadline_s=0.3) as it, asyncio.timeout(20):
        failed = await failure(it.client.send("POST", HERE, "issues", {}))
        assert failed.code == "github_answer_lost" and len(it.paths) == 1
        failed = await failure(it.client.get(HERE, "issues"))
        assert failed.code == "github_unreachable" and len(it.paths) == 4


async def test_a_drop_at_a_time_does_not_escape_the_deadline(scene: Opened) -> None:
    async def dripping(heard: Heard) -> Reply:
        return Reply(value="x", cut=1, hang=True)

    async with scene(dripping, deadline_s=0.3) as it, asyncio.timeout(20):
        assert (await failure(it.client.get(HERE, ""))).code == "github_unreachable"


async def test_what_was_not_sent_is_tried_again_and_transient(scene: Opened) -> None:
    async with scene(always()) as it:
        it.service._server.close()
        await it.service._server.wait_closed()
        for doing in (it.client.send("POST", HERE, "issues", {}), it.client.get(HERE, "issues")):
            failed = await failure(doing)
            assert isinstance(failed, Transient) and failed.code == "github_unreachable"
        assert len(it.time.slept) == 4


@pytest.mark.fault("D6")
async def test_an_answer_is_bounded_also_unpacked(scene: Opened) -> None:
    packed = gzip.compress(b'"' + b"x" * 20_000_000 + b'"')
    bomb = Reply(raw=packed, headers={"Content-Encoding": "gzip"})
    for reply in (Reply(raw=b'"' + b"x" * 200_000 + b'"'), bomb):
        async with scene(lambda heard, reply=reply: reply) as it:
            await failure(it.client.get(HERE, "pulls"))  # modules are loaded by now
            tracemalloc.start()
            failed = await failure(it.client.get(HERE, "issues"))
            _, most = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            assert most < 2_000_000
            assert isinstance(failed, Permanent) and failed.code == "github_answer_too_large"
            assert len(it.paths) == 2
            failed = await failure(it.client.send("POST", HERE, "issues", {}))
            assert failed.code == "github_answer_lost"


async def test_packed_answers_are_read(scene: Opened) -> None:
    async with scene(always(value={"a": "ü" * 500}, zipped=True)) as it:
        assert await it.client.get(HERE, "issues") == {"a": "ü" * 500}


async def test_an_empty_answer_is_none_where_it_may_be(scene: Opened) -> None:
    async with scene(always(status=204)) as it:
        assert await it.client.send("DELETE", HERE, "issues/7/lock") is None


# -- refusals


def refused(status: int, message: str, errors: Any = None, **headers: str) -> Reply:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Reply(status=status, value={"message": message, "errors": errors}, headers=named)


@pytest.mark.parametrize(
    ("errors", "texts"),
    [
        ([{"resource": "Pull", "field": "head", "code": "invalid"}], ["Pull.head invalid"]),
        ([{"code": "custom", "message": "No commits between"}], ["No commits between"]),
        (["Line must be part of the diff"], ["Line must be part of the diff"]),
        ("Some text", ["Some text"]), (None, []), ([3, None], ["", ""]), ({"a": 1}, []),
    ],
)  # fmt: skip
@pytest.mark.fault("D8")
async def test_a_refusal_carries_the_words_of_the_service(
    scene: Opened, errors: Any, texts: list[str]
) -> None:
    async with scene(lambda heard: refused(422, "Validation\x1b[31m Failed", errors)) as it:
        failed = await failure(it.client.send("POST", HERE, "pulls", {}))
        assert isinstance(failed, Permanent) and failed.code == "github_refused"
        assert failed.context == {
            "status": 422, "said": "Validation [31m Failed", "errors": texts,
        }  # fmt: skip
        assert len(it.paths) == 1
        for text in texts:
            assert text in failed.message


@pytest.mark.parametrize("status", [400, 405, 409, 410, 413, 415, 418, 451])
async def test_every_other_refusal_is_permanent(scene: Opened, status: int) -> None:
    async with scene(lambda heard: refused(status, "Words")) as it:
        for doing in (it.client.get(HERE, "x"), it.client.send("PUT", HERE, "x", {})):
            failed = await failure(doing)
            assert (failed.code, failed.context["status"]) == ("github_refused", status)


@pytest.mark.fault("D9")
@pytest.mark.parametrize(
    ("reply", "code", "needed"),
    [
        (refused(401, "Bad credentials"), "github_credentials_refused", None),
        (
            refused(403, "Resource not accessible by integration",
                    X_Accepted_GitHub_Permissions="issues=write; pull_requests=write"),
            "github_permission_missing", "issues=write or pull_requests=write",
        ),
        (
            refused(403, "Must have admin rights to Repository.", X_Accepted_OAuth_Scopes="repo"),
            "github_permission_missing", "scope repo",
        ),
        (
            refused(403, "Resource protected by organization SAML enforcement.",
                    X_GitHub_SSO="required; url=https://github.com/orgs/acme/sso?x=1"),
            "github_permission_missing", "https://github.com/orgs/acme/sso?x=1",
        ),
        (refused(403, "This installation has been suspended"), "github_access_lost", "acme/shop"),
    ],
)  # fmt: skip
async def test_what_a_person_must_put_right_is_named(
    scene: Opened, reply: Reply, code: str, needed: str | None
) -> None:
    async with scene(lambda heard: reply) as it:
        failed = await failure(it.client.send("POST", HERE, "issues", {}))
        assert isinstance(failed, Environmental) and failed.code == code
        assert needed is None or needed in f"{failed.message} {failed.hint}"
        assert len(it.paths) == 1, "a plain token cannot be renewed"


async def test_a_forbidden_thing_is_not_a_missing_permission(scene: Opened) -> None:
    archived = refused(403, "Repository was archived so is read-only.",
                       X_Accepted_GitHub_Permissions="issues=write")  # fmt: skip
    async with scene(lambda heard: archived) as it:
        assert (await failure(it.client.send("POST", HERE, "issues", {}))).code == "github_refused"


@pytest.mark.fault("D9")
async def test_a_404_says_whether_the_repository_is_still_there(scene: Opened) -> None:
    def answering(heard: Heard) -> Reply:
        gone = heard.path != "/repos/acme/shop"
        return refused(404, "Not Found") if gone else Reply(value={"id": 1})

    async with scene(answering) as it:
        failed = await failure(it.client.get(HERE, "issues/7"))
        assert isinstance(failed, NotFound) and failed.code == "github_not_found"
        assert failed.context["status"] == 404
    async with scene(lambda heard: refused(404, "Not Found")) as it:
        for path in ("issues/7", ""):
            failed = await failure(it.client.get(HERE, path))
            assert isinstance(failed, Environmental) and failed.code == "github_access_lost"
            assert "acme/shop" in failed.message
        assert it.paths[-1] == it.paths[-2] == "GET /repos/acme/shop"
        assert len(it.paths) == 3


# -- limits


@pytest.mark.fault("D1")
async def test_a_limit_is_held_and_nothing_is_sent_meanwhile(scene: Opened) -> None:
    async with scene(always(status=429, value={}, headers={"Retry-After": "90"})) as it:
        for _ in range(5):
            with pytest.raises(QuotaHeld) as held:
                await it.client.send("POST", HERE, "issues", {}, creates=True)
            assert held.value.until_ms == it.time.wall_ms + 90_000
        assert len(it.paths) == 1


async def test_a_moment_is_waited_inside_and_a_refused_write_sent_again(scene: Opened) -> None:
    limited = Reply(status=403, value={}, headers={"Retry-After": "1"})
    async with scene(one_by_one(limited, Reply(status=201, value={"id": 1}))) as it:
        assert await it.client.send("POST", HERE, "issues", {}) == {"id": 1}
        assert it.time.slept == [1.0] and len(it.paths) == 2
    async with scene(lambda heard: limited) as it:
        with pytest.raises(QuotaHeld):
            await it.client.send("POST", HERE, "issues", {})
        assert len(it.paths) == 3


@pytest.mark.fault("D4")
async def test_in_an_outage_requests_stop(scene: Opened) -> None:
    async with scene(always(status=503, value={})) as it:
        held = 0
        for _ in range(20):
            try:
                await it.client.get(HERE, "issues")
            except QuotaHeld as error:
                assert error.limit == "github_unavailable"
                held += 1
            except Transient:
                pass
        assert len(it.paths) <= 9 and held >= 17
        it.service.answering = always(value={})
        it.time.pass_ms(60_000)
        assert await it.client.get(HERE, "issues") == {}


# -- redirects


@pytest.mark.fault("D12")
async def test_a_renamed_repository_is_followed_by_its_id(scene: Opened) -> None:
    def answering(heard: Heard) -> Reply:
        if heard.path.startswith("/v3/repos/"):
            place = heard.path.replace("/repos/acme/shop", "/repositories/77")
            status = 301 if heard.method == "GET" else 307
            return Reply(status=status, value={}, headers={"Location": it.service.url + place})
        return Reply(value={"by": heard.path, "sent": heard.body.decode()})

    async with scene(answering, base="/v3") as it:
        assert (await it.client.get(HERE, "issues/7"))["by"] == "/v3/repositories/77/issues/7"
        done = await it.client.send("POST", HERE, "issues", {"a": 1})
        assert done == {"by": "/v3/repositories/77/issues", "sent": '{"a":1}'}


@pytest.mark.fault("D12")
@pytest.mark.parametrize(
    ("method", "status", "place"),
    [
        ("GET", 301, "{other}/repositories/77"),
        ("GET", 302, "http://localhost.evil/repositories/77"),
        ("GET", 301, "{host}/repos/other/name"),
        ("GET", 301, "{host}/user"),
        ("GET", 301, "{host}/repositories/77/../../user"),
        ("GET", 301, "{host}/repositories/x"),
        ("GET", 301, "//evil.example/repositories/77"),
        ("GET", 307, "https://user@127.0.0.1/repositories/77"),
        ("GET", 301, ""),
        ("GET", 301, "http://[bad"),
        ("POST", 301, "{host}/repositories/77"),
        ("POST", 302, "{host}/repositories/77"),
        ("POST", 303, "{host}/repositories/77"),
        ("POST", 307, "{other}/repositories/77"),
    ],
)
async def test_a_credential_follows_nowhere_else(
    scene: Opened, method: Any, status: int, place: str
) -> None:
    async with SmallService(always(value={})) as other:

        def answering(heard: Heard) -> Reply:
            if heard.path != "/repos/acme/shop/x":
                return Reply(value={})
            where = place.format(host=it.service.url, other=other.url)
            return Reply(status=status, value={}, headers={"Location": where})

        async with scene(answering) as it:
            doing = (
                it.client.get(HERE, "x")
                if method == "GET"
                else it.client.send(method, HERE, "x", {})
            )
            failed = await failure(doing)
            assert isinstance(failed, Permanent) and failed.code == "github_redirected"
            assert len(it.paths) == 1 and other.heard == []


async def test_redirects_in_circles_end(scene: Opened) -> None:
    circle = {"Location": "/repositories/77"}
    async with scene(always(status=301, value={}, headers=circle)) as it:
        assert (await failure(it.client.get(HERE, ""))).code == "github_redirected"
        assert len(it.paths) == 4


# -- conditional requests


async def test_what_did_not_change_is_not_sent_again(scene: Opened) -> None:
    def answering(heard: Heard) -> Reply:
        if heard.headers.get("if-none-match") == '"one"':
            return Reply(status=304)
        return Reply(value={"path": heard.path}, headers={"ETag": '"one"', "Link": "x"})

    async with scene(answering) as it:
        for _ in range(3):
            assert await it.client.get(HERE, "issues/7") == {"path": "/repos/acme/shop/issues/7"}
        assert await it.client.get(HERE, "issues/8") == {"path": "/repos/acme/shop/issues/8"}
        asked = [heard.headers.get("if-none-match") for heard in it.service.heard]
        assert asked == [None, '"one"', '"one"', None]
        it.service.answering = always(value="new", headers={"ETag": '"two"'})
        assert await it.client.get(HERE, "issues/7", fresh=True) == "new"
        it.service.answering = always(value="newer")
        await it.client.get(HERE, "issues/7")
        assert it.service.heard[-1].headers["if-none-match"] == '"two"'
        await it.client.get(HERE, "issues/7")
        assert "if-none-match" not in it.service.heard[-1].headers


def answer(size: int = 10, etag: str = '"e"', status: int = 200) -> HttpAnswer:
    headers = {"etag": etag} if etag else {}
    return HttpAnswer(status=status, headers=headers, body=b"x" * size, url="u")


def test_what_is_kept_is_bounded_and_apart_for_each_credential() -> None:
    kept = Etags(most=3, most_bytes=100)
    for n in range(3):
        kept.put("token:a", f"u{n}", answer())
    assert kept.get("token:a", "u0") and kept.get("token:b", "u0") is None
    kept.put("token:a", "u3", answer())
    assert kept.get("token:a", "u1") is None, "the longest unused goes"
    assert kept.get("token:a", "u0") and len(kept) == 3 and kept.bytes == 30
    kept.put("token:a", "big", answer(95))
    assert len(kept) == 1 and kept.bytes == 95
    kept.put("token:a", "big", answer(5))
    assert kept.bytes == 5
    kept.put("token:a", "plain", answer(etag=""))
    kept.put("token:a", "huge", answer(LARGEST_BYTES + 1))
    kept.put("token:a", "bad", answer(status=404))
    kept.put("token:a", "big", answer(etag=""))
    assert len(kept) == 0 and kept.bytes == 0


# -- pages


def numbers(first: int, size: int = 100) -> list[int]:
    return list(range(first, first + size))


def page_of(heard: Heard) -> int:
    query = dict(part.split("=") for part in heard.path.partition("?")[2].split("&"))
    assert query["per_page"] == "100"
    return int(query.get("page", 1))


@pytest.mark.fault("D10")
@pytest.mark.parametrize("links", ["good", "missing", "looping", "elsewhere", "garbage"])
async def test_a_list_is_complete_whatever_its_links_say(scene: Opened, links: str) -> None:
    def answering(heard: Heard) -> Reply:
        page = page_of(heard)
        items = numbers(page * 100 - 100) if page < 4 else [300, 301]
        base = it.service.url + "/repos/acme/shop/issues?per_page=100&page="
        link = {
            "good": f'<{base}{page + 1}>; rel="next", <{base}9>; rel="last"',
            "missing": "",
            "looping": f'<{base}1>; rel="next"' if page > 1 else f'<{base}2>; rel="next"',
            "elsewhere": f'<http://evil.example/?per_page=100&page={page + 1}>; rel="next"',
            "garbage": '<<<>>>; rel="next"' * 50 + '<http://[x>; rel="next"',
        }[links]
        if links == "good" and page == 4:
            link = f'<{base}1>; rel="first", <{base}3>; rel="prev"'
        return Reply(value=items, headers={"Link": link} if link else {})

    async with scene(answering) as it:
        assert await it.client.pages(HERE, "issues") == numbers(0, 302)
        assert len(it.paths) == 4


@pytest.mark.fault("D10")
async def test_an_endless_list_is_bounded(scene: Opened) -> None:
    def endless(heard: Heard) -> Reply:
        page = page_of(heard)
        link = f'<{it.service.url}/repos/acme/shop/x?per_page=100&page={page + 1}>; rel="next"'
        return Reply(value=numbers(page * 100), headers={"Link": link})

    async with scene(endless) as it:
        assert len(await it.client.pages(HERE, "x", limit=250)) == 250
        assert len(it.paths) == 3
        assert len(await it.client.pages(HERE, "x", limit=10**9)) == 100 * 100
    async with scene(always(value=numbers(0))) as it:
        assert await it.client.pages(HERE, "x") == numbers(0), "it does not turn the page"


async def test_items_inside_of_an_object(scene: Opened) -> None:
    async with scene(always(value={"total_count": 1, "check_runs": [5]})) as it:
        assert await it.client.pages(HERE, "check-runs", items="check_runs") == [5]
        failed = await failure(it.client.pages(HERE, "check-runs"))
        assert failed.code == "github_unreachable"


# -- reading what was just written


@pytest.mark.fault("D11")
async def test_what_is_not_seen_yet_is_read_again_a_few_times(scene: Opened) -> None:
    def answering(heard: Heard) -> Reply:
        if heard.path.endswith("/shop"):
            return Reply(value={})
        seen = len([h for h in it.service.heard if h.path == heard.path]) >= 3
        return Reply(value={"id": 7}) if seen else refused(404, "Not Found")

    async with scene(answering) as it:
        assert await it.settled(lambda: it.client.get(HERE, "issues/7")) == {"id": 7}
        assert it.time.slept == [0.25, 0.5]

        async def never() -> None:
            return None

        assert await it.settled(never) is None
        assert len(it.time.slept) == 2 + 4


# -- GraphQL


@pytest.mark.parametrize(
    ("base", "path"), [("", "/graphql"), ("/api/v3", "/api/graphql"), ("/x", "/x/graphql")]
)
async def test_graphql(scene: Opened, base: str, path: str) -> None:
    async with scene(always(value={"data": {"a": 1}}), base=base) as it:
        found = await it.client.graphql(HERE, "query($n: Int!) {a}", {"n": 1}, writes=False)
        assert found == {"a": 1}
        assert it.paths == [f"POST {path}"]
        assert it.service.heard[0].json == {"query": "query($n: Int!) {a}", "variables": {"n": 1}}


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("NOT_FOUND", "github_not_found"), ("FORBIDDEN", "github_permission_missing"),
        ("INSUFFICIENT_SCOPES", "github_permission_missing"), ("UNPROCESSABLE", "github_refused"),
        (None, "github_refused"),
    ],
)  # fmt: skip
async def test_errors_of_graphql_beside_its_data(scene: Opened, kind: Any, code: str) -> None:
    error = {"type": kind, "message": "Pull request is in clean status"}
    async with scene(always(value={"data": {"a": 1}, "errors": [error]})) as it:
        failed = await failure(it.client.graphql(HERE, "mutation", {}, writes=True))
        assert failed.code == code and failed.context["errors"] == [error["message"]]


async def test_graphql_without_data_or_quota(scene: Opened) -> None:
    async with scene(always(value={"data": None})) as it:
        failed = await failure(it.client.graphql(HERE, "mutation", {}, writes=True))
        assert failed.code == "github_answer_lost"
        failed = await failure(it.client.graphql(HERE, "query", {}, writes=False))
        assert failed.code == "github_unreachable"
    limited = {"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]}
    async with scene(always(value=limited)) as it:
        with pytest.raises(QuotaHeld):
            await it.client.graphql(HERE, "query", {}, writes=False)


FAULT = {"message": "Something went wrong while executing your query. Please include `1:2` when"}


async def test_a_fault_that_is_told_with_200_passes(scene: Opened) -> None:
    """As octokit's plugins for retrying and throttling take it."""
    answers = iter([{"errors": [FAULT]}, {"data": {"a": 1}}])
    async with scene(lambda _: Reply(value=next(answers))) as it:
        assert await it.client.graphql(HERE, "query", {}, writes=False) == {"a": 1}
    async with scene(always(value={"data": None, "errors": [FAULT]})) as it:
        failed = await failure(it.client.graphql(HERE, "mutation", {}, writes=True))
        assert failed.code == "github_answer_lost" and len(it.paths) == 1
        failed = await failure(it.client.graphql(HERE, "query", {}, writes=False))
        assert failed.code == "github_unreachable"


@pytest.mark.parametrize(
    "error",
    [
        {"type": "RATE_LIMIT", "code": "graphql_rate_limit"},
        {"code": "graphql_rate_limit"},
        {"extensions": {"code": "graphql_rate_limit"}},
        {"type": "RATE_LIMITED"},
    ],
)
@pytest.mark.parametrize("told", [True, False])
async def test_a_limit_of_graphql_by_any_of_its_names(
    scene: Opened, error: dict[str, Any], told: bool
) -> None:
    said = {"errors": [{**error, "message": "API rate limit already exceeded"}]}
    headers = {"x-ratelimit-resource": "graphql"} if told else {}
    async with scene(always(value=said, headers=headers)) as it:
        with pytest.raises(QuotaHeld):
            await it.client.graphql(HERE, "mutation", {}, writes=True)


async def test_a_lost_mutation_is_not_repeated(scene: Opened) -> None:
    async with scene(always(status=502, value={})) as it:
        failed = await failure(it.client.graphql(HERE, "mutation", {}, writes=True))
        assert failed.code == "github_answer_lost" and len(it.paths) == 1
        failed = await failure(it.client.graphql(HERE, "query", {}, writes=False))
        assert failed.code == "github_unreachable" and len(it.paths) == 4


async def test_whose_the_token_is(scene: Opened) -> None:
    async with scene(always(value={"login": "ann"})) as it:
        assert await it.client.account() == await it.client.account() == "ann"
        assert it.paths == ["GET /user"]
