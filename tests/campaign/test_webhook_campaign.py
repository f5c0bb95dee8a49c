"""Every payload that GitHub publishes, signed, at 200 a second into the real product; then what
hostile senders send. Counted in the product's own file."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import pytest
from benchmarks.deliveries import Answered, Example
from webhook_play import WebhookPlay

from agent_work_orders.clock import SystemClock
from benchmarks import deliveries
from github_simulator.changes import founding
from github_simulator.server import GithubSimulator
from github_simulator.things.actor import EVERYTHING, Actor

RATE_PER_S, SECONDS = 200, 10
RULES = """
github:
  labels: {bug: waits}
  assignment: waits
  push: [{workflow: waits}]
  check_failure: [{branches: ["*"], workflow: waits}]
  pull_request: [{on: [opened, synchronize, reopened, ready_for_review], workflow: waits}]
"""
# What the rules above say to the 329 examples, by hand: issues.labeled (2 examples of one event),
# pull_request.labeled (2), pull_request.opened, .synchronize, .reopened and .ready_for_review (10,
# all of one head), push to master (2; the others are of tags), check_run.completed with a failure.
# issues.assigned is to Codertocat, not to us; the checks that are rerequested are not ours; what
# installations and repositories tell is about access; everything else asks for nothing.
WANTED = {
    ("issue:1", "run", "github:codertocat"),
    ("pull:2", "run", "github:codertocat"),
    ("pull:2", "review", "github:codertocat"),
    ("branch:master", "push", "github:rules"),
    ("branch:changes", "check", "github:codertocat"),
}
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)")


class Campaign(WebhookPlay):
    """The examples' people and repository are there."""

    def __init__(self, room: Path, github: GithubSimulator) -> None:
        super().__init__(room, github, RULES)
        world = github.world
        [app] = world.apps.values()
        app.webhook_url = None  # Only what this test sends comes.
        owner = founding.add_account(world, "Codertocat")
        here = founding.add_repository(
            world, owner, "Hello-World", default_branch="master", files={"README.md": "# Hi\n"}
        )
        founding.install(world, app, owner, [here])
        other = founding.add_account(world, "github", "Organization")
        there = founding.add_repository(world, other, "hello-world", files={"README.md": "# Hi\n"})
        founding.install(world, app, other, [there])
        git = world.git(here)
        founding.commit(
            world, here, "changes", {"a.txt": "a\n"}, "Change", owner, parent=git.branch("master")
        )
        actor = Actor(
            kind="user", login="Codertocat", account_id=owner.id, permissions=dict(EVERYTHING)
        )
        for path, body in (
            ("labels", {"name": "bug", "color": "ff0000"}),
            ("issues", {"title": "Spelling error in the README file", "labels": ["bug"]}),
            ("pulls", {"title": "Update the README", "head": "changes", "base": "master"}),
            ("issues/2/labels", {"labels": ["bug"]}),
        ):
            at = f"/repos/Codertocat/Hello-World/{path}"
            made = github.api.act(actor, "POST", at, body)
            assert made.status in (200, 201) or path == "labels", made.body

    async def flood(self, examples: list[Example], count: int, rate: float) -> None:
        """Send them by the clock, print how long it took, and see that all were taken."""
        sent = deliveries.requests(self.url, self.secret, examples, count, seed=1)
        answers = await deliveries.send(self.url, sent, rate)
        assert {one.status for one in answers} <= {200, 202}, Counter(o.status for o in answers)
        said = Counter(json.loads(one.body)["status"] for one in answers)
        print(f"{count} deliveries at {rate:g}/s: {_times(answers)}; {dict(said)}")
        assert said.keys() <= {"accepted", "ignored", "pong"}, "every GUID is a new one"
        [(kept,)] = self.rows("SELECT count(*) FROM deliveries")
        assert kept == said["accepted"], "and what was accepted is there"

    async def post(self, request: bytes, *, after: bytes = b"") -> int:
        """The status; of a connection that is closed without a word, 0."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(request)
            for start in range(0, len(after), 1 << 20):
                writer.write(after[start : start + (1 << 20)])
                await writer.drain()
            return (await deliveries.answer(reader))[0]
        except (ConnectionError, asyncio.IncompleteReadError):
            return 0
        finally:
            writer.close()


@pytest.fixture
async def play(room: Path) -> AsyncIterator[Campaign]:
    async with GithubSimulator(room / "github") as github:
        made = Campaign(room, github)
        try:
            yield made
        finally:
            made.kill()


@pytest.mark.slow
@pytest.mark.fault("C10")
async def test_examples_as_they_are_make_nothing(play: Campaign) -> None:
    """They happened years ago; with the built-in rules none would ask for anything anyway."""
    (play.folder / "rules.yaml").write_text("")
    await play.start()
    before = play.counts()
    await play.flood(deliveries.published(), RATE_PER_S * SECONDS, RATE_PER_S)
    await play.quiet()
    assert play.counts() == before
    assert play.github.requests.of("repos/get-content") == [], "nor was GitHub asked anything"


@pytest.mark.slow
@pytest.mark.fault("C4")
async def test_examples_of_today_make_what_the_rules_say_and_nothing_else(play: Campaign) -> None:
    await play.start()
    today = [_today(one) for one in deliveries.published()]
    await play.flood(today, RATE_PER_S * SECONDS, RATE_PER_S)
    await play.quiet()
    made = play.rows(
        "SELECT s.subject, s.purpose, o.created_by, o.workflow_type FROM orders o"
        " JOIN order_subjects s ON s.order_id = o.agent_work_order_id"
    )
    assert sorted(row[:3] for row in made) == sorted(WANTED)
    assert {row[3] for row in made} == {"waits"}
    assert play.orders() == len(WANTED), "none without a subject"
    states = play.rows("SELECT DISTINCT outcome FROM deliveries")
    assert {row[0] for row in states} == {"handled", "ignored"}, play.complaints()


@pytest.mark.slow
@pytest.mark.fault("C8")
async def test_a_storm_of_5000_in_ten_seconds_is_taken_whole(play: Campaign) -> None:
    await play.start()
    before = play.counts()
    await play.flood(deliveries.published(), 5_000, 500)
    await play.quiet()
    assert play.counts() == before


@pytest.mark.slow
@pytest.mark.fault("C1")
@pytest.mark.fault("C2")
@pytest.mark.fault("C9")
async def test_hostile_ones_change_nothing(play: Campaign) -> None:
    await play.start()
    [label, *_] = [
        _today(one)
        for one in deliveries.published()
        if one.event == "issues" and b'"action": "labeled"' in one.body
    ]
    fresh = deliveries.guids(7)
    known = next(fresh)
    started, first = time.perf_counter(), play.counts()
    slow = asyncio.create_task(play.post(_head(play, label, next(fresh)) + label.body[:100]))
    for name, wanted, request in _hostile(play, label, fresh):
        status = await play.post(request[: 1 << 16], after=request[1 << 16 :])
        assert status in wanted, name
    assert play.counts() == first
    assert play.rows("SELECT count(*) FROM deliveries WHERE body IS NOT NULL")[0][0] == 0
    assert await slow == 408
    print(f"hostile ones and the slowest of them: {time.perf_counter() - started:.1f} s")
    # The control: the same bytes, rightly signed, do make an order.
    assert await play.post(_head(play, label, known) + label.body) == 202
    await play.until_orders(1)
    after = play.counts()
    other = label.body.replace(b'"number": 1,', b'"number": 2,')
    for body in (label.body, label.body, other):
        one = Example(event="issues", body=body)
        assert await play.post(_head(play, one, known) + body) == 202, "replayed: known"
    again = _head(play, label, next(fresh)) + label.body
    assert await play.post(again) == 202, "replayed under another GUID: the same event"
    await play.quiet()
    assert play.counts() == after


def _hostile(
    play: Campaign, label: Example, fresh: Iterator[str]
) -> Iterator[tuple[str, tuple[int, ...], bytes]]:
    """Each would make an order if it were believed."""
    body, secret = label.body, play.secret

    def made(body: bytes, *, sign: str | None = None, **more: str) -> bytes:
        right = deliveries.signed(secret, body)
        signature = right if sign is None else sign
        return _begin(play, next(fresh), len(body), signature, **more) + body

    right = deliveries.signed(secret, body)
    yield "unsigned", (401,), made(body, sign="")
    yield "forged", (401,), made(body, sign=deliveries.signed("another", body))
    yield "signed by nothing", (401,), made(body, sign=deliveries.signed("", body))
    yield "sha1 only", (401,), made(body, sign="", x_hub_signature="sha1=" + "0" * 40)
    yield "one byte changed", (401,), made(body.replace(b"bug", b"bag"), sign=right)
    again = json.dumps(json.loads(body), indent=1).encode()
    yield "written anew", (401,), made(again, sign=right)
    packed = gzip.compress(body)
    yield "gzip", (415,), made(packed, content_encoding="gzip")
    bomb = gzip.compress(b"0" * 50_000_000)
    yield "a bomb", (415,), made(bomb, content_encoding="gzip")
    form, kind = b"payload=" + quote_plus(body).encode(), "application/x-www-form-urlencoded"
    yield "a form, its content signed", (401,), made(form, sign=right, content_type=kind)
    yield "a form of two", (400,), made(form + b"&" + form, content_type=kind)
    yield "a form that is cut off", (400,), made(form[:-5], content_type=kind)
    yield "a form said to be JSON", (400,), made(form)
    yield "text", (415,), made(body, content_type="text/plain")
    yield "not UTF-8", (400,), made(body.replace(b"bug", b"b\xffg"))
    yield "deep", (400,), made(body[:-1] + b', "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}")
    many = b",".join(b'"k%d": 1' % n for n in range(1_000_000))
    yield "many keys", (400,), made(body[:-1] + b"," + many + b"}")
    yield "a key twice", (400,), made(body[:-1] + b', "action": "labeled"}')
    yield "cut off", (400,), made(body[:-1])
    yield "nothing", (400,), made(b"")
    yield "no event", (400,), made(body, x_github_event="")
    yield "an odd GUID", (400,), made(body, x_github_delivery="1")
    large = b'{"pad": "' + b"x" * (26 * 1024 * 1024) + b'", ' + body[1:]
    yield "26 MB", (413, 0), made(large)
    begin = _begin(play, next(fresh), None, deliveries.signed(secret, large))
    size = 1 << 20
    parts = [large[at : at + size] for at in range(0, len(large), size)]
    chunked = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts)
    yield "26 MB without a length", (413, 0), begin + chunked + b"0\r\n\r\n"


def _begin(play: Campaign, guid: str, length: int | None, signature: str, **more: str) -> bytes:
    host = f"127.0.0.1:{play.port}"
    return deliveries.head(host, "issues", guid, length, signature, **more)


def _head(play: Campaign, one: Example, guid: str) -> bytes:
    signature = deliveries.signed(play.secret, one.body)
    return _begin(play, guid, len(one.body), signature)


def _today(one: Example) -> Example:
    """As if it had happened a minute ago, all at one moment."""
    at_s = SystemClock().now_ms() // 60_000 * 60 - 60
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at_s))
    text = _STAMP.sub(stamp, one.body.decode())
    text = re.sub(r'"pushed_at": \d+', f'"pushed_at": {at_s}', text)
    return Example(event=one.event, body=text.encode())


def _times(answers: list[Answered]) -> str:
    took = [one.took_ms for one in answers]
    found: dict[str, Any] = {
        "p50": deliveries.quantile(took, 0.5),
        "p99": deliveries.quantile(took, 0.99),
        "max": max(took),
    }
    return ", ".join(f"{name} {value:.1f} ms" for name, value in found.items())
