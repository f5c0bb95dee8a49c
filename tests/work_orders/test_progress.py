"""What people on the hub see of an order: one comment, one check, whatever goes wrong."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from agent_work_orders.engines.engine import Change
from agent_work_orders.errors import Environmental, NotFound, Permanent, Transient, Unknown
from agent_work_orders.github_integration.forge import Check, Comment, Repository
from agent_work_orders.github_integration.quota import QuotaHeld
from agent_work_orders.testing.conformance.engine import compiled, order_facts
from agent_work_orders.testing.fakes.memory_ledger import MemoryLedger
from agent_work_orders.work_orders.context import Policy
from agent_work_orders.work_orders.outgoing import progress as reporters
from agent_work_orders.work_orders.outgoing.progress import (
    EVERY_MS,
    LONGEST_PAUSE_MS,
    TRIES,
    ProgressReporter,
)
from agent_work_orders.work_orders.outgoing.replies import Conversation
from agent_work_orders.workflow_engine import events as on
from agent_work_orders.workflow_engine import run as runs
from agent_work_orders.workflow_engine.compiler import plan_hash
from agent_work_orders.workflow_engine.machine import advance
from agent_work_orders.workflow_engine.run import Run

ORDER = "wo-aaaaaaaaaaaaaaaa"
SHA = "a" * 40
PLAN = compiled(
    "name: two\ntasks:\n  one: {uses: fake.echo}\n  two: {needs: [one], uses: fake.echo}"
)
SPOT = Conversation(
    repository=Repository(key="k", full_name="acme/site"), repository_id=1, number=7
)


class Hub:
    """Comments and checks. `lost` answers are applied and then not heard; `held` sends nothing;
    `lacks` says of single writes why they are refused."""

    def __init__(self) -> None:
        self.comments: dict[int, tuple[str, str]] = {}
        self.checks: dict[int, tuple[str, Check]] = {}
        self.reactions: list[tuple[int, str, int | None]] = []
        self.sent: list[str] = []
        self.lost = 0
        self.held: QuotaHeld | None = None
        self.refused: Exception | None = None
        self.lacks: dict[str, Exception] = {}
        self.tried: list[str] = []
        self.login = "awo[bot]"
        self.statuses: list[tuple[str, str, str]] = []
        self.asked: list[str] = []

    def asking(self, priority: str) -> Hub:
        self.asked.append(priority)
        return self

    def _sending(self, what: str) -> None:
        if self.held is not None:
            raise self.held
        if self.refused is not None:
            raise self.refused
        self.tried.append(what)
        if what in self.lacks:
            raise self.lacks[what]
        self.sent.append(what)

    def _answered(self) -> None:
        if self.lost:
            self.lost -= 1
            raise Unknown("github_answer_lost", "no answer", hint="Look.")

    async def our_login(self) -> str:
        return self.login

    async def set_status(
        self, _repository: Any, sha: str, *, context: str, state: str, **more: str
    ) -> None:
        self._sending("status")
        assert context == "Agent Work Orders"
        self.statuses.append((sha, state, more["description"]))
        self._answered()

    async def find_comment(self, _repository: Any, _number: int, key: str) -> Comment | None:
        self._sending("look")
        for number, (known, body) in self.comments.items():
            if known == key:
                return Comment(comment_id=number, author="awo", body=body, url="")
        return None

    async def add_comment(self, _repository: Any, number: int, body: str, key: str) -> Comment:
        self._sending("comment")
        made = len(self.comments) + 1
        self.comments[made] = (key, body)
        self._answered()
        return Comment(comment_id=made, author="awo", body=body, url="")

    async def edit_comment(self, _repository: Any, number: int, body: str, key: str) -> None:
        self._sending("edit")
        self.comments[number] = (key, body)
        self._answered()

    async def find_check(self, _repository: Any, _sha: str, key: str) -> int | None:
        self._sending("look")
        return next((one for one, (known, _) in self.checks.items() if known == key), None)

    async def add_check(self, _repository: Any, check: Check, key: str) -> int:
        self._sending("check")
        made = len(self.checks) + 1
        self.checks[made] = (key, check)
        self._answered()
        return made

    async def edit_check(self, _repository: Any, number: int, check: Check, key: str) -> None:
        self._sending("edit check")
        self.checks[number] = (key, check)
        self._answered()

    async def react(
        self,
        _repository: Any,
        number: int,
        reaction: str,
        comment_id: int | None,
        *,
        on_a_line: bool = False,
    ) -> None:
        self._sending("react")
        self.reactions.append((number, reaction, comment_id))
        self._answered()


class Desk:
    """A reporter over a hub, a ledger that survives it, and a clock in the hand."""

    def __init__(self, **subject: Any) -> None:
        self.hub, self.ledger, self.at_ms = Hub(), MemoryLedger(), 1_000_000
        self.logged: list[str] = []
        facts = {**order_facts(ORDER), "github": {"repository_id": 1, "issue": 7, **subject}}
        self.run = runs.fresh(ORDER, PLAN, plan_hash(PLAN))
        self.reporter = self.fresh()
        self.tell(
            on.Submitted(at_ms=1, plan_hash=plan_hash(PLAN), inputs={}, order=facts, by="ann")
        )

    def fresh(self) -> ProgressReporter:
        """As after a restart."""
        place = SimpleNamespace(hub=self.hub, hub_at=lambda _key, _url: (self.hub, SPOT.repository))

        async def run(_run_id: str) -> Run:
            return self.run

        context = SimpleNamespace(
            store=SimpleNamespace(ledger=self.ledger),
            clock=SimpleNamespace(now_ms=lambda: self.at_ms),
            runs=SimpleNamespace(run=run, held_until_ms=lambda _run_id: None),
            forges=place,
            log=lambda _order, event, _level, _fields: self.logged.append(event),
            policy=Policy(public_url="https://orders.example"),
        )
        self.reporter = ProgressReporter(cast(Any, context))
        return self.reporter

    def tell(self, event: on.AnyEvent) -> None:
        before, self.run = self.run, advance(self.run, event).run
        change = Change(run_id=ORDER, seq=1, event=event, before=before, after=self.run)
        self.reporter.observe(change)

    def succeed(self, *paths: str) -> None:
        for path in paths:
            self.tell(on.TaskSucceeded(at_ms=2, path=path, attempt=1, outputs={}))

    def fail(self, path: str, attempt: int = 1) -> None:
        failure = on.Failure(category="permanent", code="c", message="m", hint="h")
        self.tell(on.TaskFailed(at_ms=2, path=path, attempt=attempt, failure=failure))

    def retry(self) -> None:
        self.tell(on.RetryAsked(at_ms=3, by="ann"))

    async def later(self, ms: int = EVERY_MS) -> None:
        self.at_ms += ms
        await self.reporter.sweep()

    async def restart(self) -> None:
        await self.fresh().start([ORDER] if self.run.stage != "ended" else [])
        await self.reporter.finish()

    @property
    def conclusions(self) -> list[str | None]:
        return [check.conclusion for _, check in self.hub.checks.values()]

    @property
    def comment(self) -> str:
        [(_, body)] = self.hub.comments.values()
        return body


async def test_one_comment_is_kept_up_to_date() -> None:
    desk = Desk()
    await desk.later(0)
    assert "working on it" in desk.comment or "waiting" in desk.comment
    desk.succeed("one")
    await desk.later(0)
    assert desk.hub.sent == ["comment"], "edits wait their turn"
    await desk.later()
    assert "| ✅ | `one` |" in desk.comment
    desk.succeed("two")
    await desk.later(0)
    assert desk.comment.startswith("### ✅ done")
    assert desk.hub.sent == ["comment", "edit", "edit"]
    assert await desk.ledger.unreceived("github.progress") == []
    assert not await desk.reporter.sweep()


async def test_a_check_stands_on_the_commit_that_is_asked_about() -> None:
    desk = Desk(head_sha=SHA)
    await desk.later(0)
    [(_, check)] = desk.hub.checks.values()
    assert (check.head_sha, check.conclusion) == (SHA, None)
    assert check.details_url == f"https://orders.example/orders/{ORDER}"
    assert f"({check.details_url})" in desk.comment
    desk.succeed("one", "two")
    await desk.later(0)
    [(key, check)] = desk.hub.checks.values()
    assert check.conclusion == "success"
    assert ORDER in key


@pytest.mark.parametrize("restarts", [False, True])
async def test_the_check_of_an_older_commit_is_concluded(restarts: bool) -> None:
    desk = Desk(head_sha=SHA)
    await desk.later(0)
    facts = desk.run.order
    newer = "b" * 40
    desk.run = msgspec.structs.replace(
        desk.run, order={**facts, "github": {**facts["github"], "head_sha": newer}}
    )
    if restarts:
        await desk.fresh().start([ORDER])
        await desk.reporter.finish()
    desk.succeed("one")
    await desk.later()
    desk.succeed("two")
    await desk.later()
    found = {check.head_sha: check.conclusion for _, check in desk.hub.checks.values()}
    assert found == {SHA: "neutral", newer: "success"}
    assert desk.hub.sent.count("check") == 2


@pytest.mark.fault("D7")
@pytest.mark.parametrize("restarts", [False, True])
async def test_lost_answers_double_nothing(restarts: bool) -> None:
    desk = Desk(head_sha=SHA)
    for step in ("begin", "one", "two"):
        if step != "begin":
            desk.succeed(step)
        for _ in range(3):
            desk.hub.lost = 1
            if restarts:
                await desk.fresh().start([ORDER])
                await desk.reporter.finish(0)
            await desk.later(LONGEST_PAUSE_MS)
    desk.hub.lost = 0
    for _ in range(3):
        await desk.later(LONGEST_PAUSE_MS)
    assert desk.comment.startswith("### ✅ done")
    assert len(desk.hub.checks) == 1
    assert "github_report_failed" in desk.logged


@pytest.mark.fault("D1")
async def test_what_the_quota_holds_is_sent_when_it_opens() -> None:
    desk = Desk()
    desk.hub.held = QuotaHeld("installation:1", "primary_limit", desk.at_ms + 60_000)
    await desk.later(0)
    await desk.later(59_999)
    assert desk.hub.sent == []
    desk.hub.held = None
    assert not await desk.reporter.sweep(), "not before its time"
    await desk.later(1)
    assert len(desk.hub.comments) == 1
    assert desk.logged == []


async def test_what_certainly_was_not_sent_is_not_looked_for() -> None:
    desk = Desk(head_sha=SHA)
    desk.hub.held = QuotaHeld("installation:1", "creation_limit", desk.at_ms + 60_000)
    await desk.later(0)
    desk.hub.held = None
    await desk.later(60_000)
    assert desk.hub.sent == ["comment", "check"]


async def test_answers_go_before_progress_and_progress_before_its_beauty() -> None:
    desk = Desk()
    await desk.later(0)
    assert desk.hub.asked == [], "the first comment is work of the order"
    desk.succeed("one")
    desk.at_ms += EVERY_MS
    await desk.reporter.say(SPOT, "c1", "Understood.")
    await desk.reporter.react(SPOT, 5, "eyes")
    await desk.reporter.react(SPOT, None, "eyes")
    desk.hub.sent.clear()
    await desk.later(0)
    assert desk.hub.asked == ["person", "person", "background"]
    assert desk.hub.sent[-1] == "edit"
    desk.hub.asked.clear()
    desk.succeed("two")
    await desk.later(0)
    assert desk.hub.asked == [], "the end is shown as work of the order"


async def test_an_answer_does_not_wait_for_all_the_progress(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reporters, "AT_ONCE", 1)
    desk = Desk()
    await desk.later(0)
    sent: list[str] = []

    async def do(key: str) -> bool:
        if not sent:
            await desk.reporter.say(SPOT, "c1", "Understood.")
        sent.append(key)
        return True

    monkeypatch.setattr(desk.reporter, "_do", do)
    for n in range(3):
        desk.reporter._plan(f"wo-{n}:progress", 1)
    await desk.reporter.sweep()
    assert sent == ["wo-0:progress", "say:c1", "wo-1:progress", "wo-2:progress"]


async def test_what_was_left_is_taken_up_by_the_next_start() -> None:
    desk = Desk()
    await desk.later(0)
    desk.hub.refused = Transient("github_unreachable", "down", hint="Wait.")
    desk.succeed("one", "two")
    await desk.later()
    await desk.reporter.say(SPOT, "c1", "Understood.")
    await desk.reporter.react(SPOT, 5, "eyes")
    await desk.later()
    desk.hub.refused = None
    await desk.fresh().start([])
    await desk.reporter.finish()
    texts = sorted(body for _, body in desk.hub.comments.values())
    assert texts[0].startswith("### ✅ done")
    assert texts[1] == "Understood."
    assert desk.hub.reactions == [(7, "eyes", 5)]


async def test_an_answer_is_said_once() -> None:
    desk = Desk()
    desk.hub.lost = 1
    for _ in range(3):
        await desk.reporter.say(SPOT, "c1", "Understood.")
        await desk.later(LONGEST_PAUSE_MS)
    said = [body for _, body in desk.hub.comments.values() if body == "Understood."]
    assert said == ["Understood."]


async def test_what_is_refused_for_good_is_given_up() -> None:
    desk = Desk()
    desk.hub.refused = Permanent("github_refused", "The conversation is locked", hint="Unlock it.")
    await desk.later(0)
    desk.hub.refused = None
    await desk.later(LONGEST_PAUSE_MS)
    assert desk.hub.sent == []
    assert desk.logged == ["github_report_failed"]


@pytest.mark.parametrize("lives", [1, 2, 3])
async def test_the_last_picture_of_each_life_survives_a_kill(lives: int) -> None:
    desk = Desk(head_sha=SHA)
    await desk.later(0)
    for life in range(1, lives):
        desk.fail("one", attempt=life)
        await desk.later()
        assert desk.conclusions == ["failure"]
        desk.retry()
        await desk.later()
    desk.tell(on.TaskSucceeded(at_ms=4, path="one", attempt=lives, outputs={}))
    desk.succeed("two")
    await desk.restart()
    assert desk.comment.startswith("### ✅ done")
    assert desk.conclusions == ["success"]
    assert await desk.ledger.unreceived("github.progress") == []
    desk.hub.sent.clear()
    await desk.restart()
    assert desk.hub.sent == [], "each life has its end"


async def test_an_order_has_one_intent_while_it_is_open() -> None:
    desk = Desk()
    await desk.later(0)
    await desk.restart()
    desk.succeed("one")
    await desk.later()
    assert [one.key for one in await desk.ledger.unreceived("github.progress")] == [
        f"{ORDER}:progress"
    ]


async def _days(desk: Desk, days: int = 2) -> None:
    for _ in range(days * 24 * 12):
        await desk.later(300_000)


def _lacking() -> Environmental:
    return Environmental("github_permission_missing", "needs checks=write", hint="Grant it.")


@pytest.mark.parametrize("since", ["begin", "end"])
async def test_a_missing_permission_is_not_asked_for_ever(since: str) -> None:
    desk = Desk(head_sha=SHA)
    if since == "begin":
        desk.hub.lacks["check"] = desk.hub.lacks["edit check"] = _lacking()
        await desk.later(0)
        desk.succeed("one")
        await _days(desk)
    else:
        await desk.later(0)
        desk.succeed("one")
        await desk.later()
        desk.hub.lacks["check"] = desk.hub.lacks["edit check"] = _lacking()
    desk.logged.clear()
    desk.hub.tried.clear()
    desk.hub.asked.clear()
    desk.succeed("two")
    await _days(desk)
    assert desk.comment.startswith("### ✅ done"), "what can be said is said"
    assert len([one for one in desk.hub.tried if "check" in one]) == TRIES
    assert "look" not in desk.hub.tried, "what was refused is not looked for"
    assert desk.hub.asked == ["background"] * (TRIES - 1)
    assert desk.logged == ["github_report_failed"]
    assert await desk.ledger.unreceived("github.progress") == []


async def test_a_permission_that_comes_back_in_time_is_used() -> None:
    desk = Desk(head_sha=SHA)
    desk.hub.lacks["check"] = _lacking()
    desk.succeed("one", "two")
    await desk.later(0)
    await desk.later(3_600_000)
    desk.hub.lacks.clear()
    await desk.later(3_600_000)
    assert desk.conclusions == ["success"]


async def test_an_answer_that_may_not_be_given_is_given_up() -> None:
    desk = Desk()
    await desk.later(0)
    desk.hub.lacks["comment"] = _lacking()
    await desk.reporter.say(SPOT, "c1", "Understood.")
    await _days(desk)
    assert desk.hub.tried.count("comment") == 1 + TRIES
    assert await desk.ledger.unreceived("github.say") == []


@pytest.mark.parametrize(
    ("write", "why"),
    [
        ("edit", NotFound("github_not_found", "deleted", hint="Look.")),
        ("edit", Permanent("github_refused", "The conversation is locked", hint="Unlock it.")),
        ("comment", Permanent("github_refused", "The conversation is locked", hint="Unlock it.")),
    ],
)
async def test_the_check_concludes_without_the_comment(write: str, why: Exception) -> None:
    desk = Desk(head_sha=SHA)
    if write == "edit":
        await desk.later(0)
        desk.hub.comments.clear()
    desk.hub.lacks[write] = why
    await desk.later(0)
    for path in ("one", "two"):
        desk.succeed(path)
        await desk.later()
    assert desk.conclusions == ["success"]
    assert desk.hub.comments == {}, "what was deleted is not written again"
    assert desk.hub.tried.count(write) == 2, "at first, and at the end"
    assert desk.logged == ["github_report_failed"]
    assert await desk.ledger.unreceived("github.progress") == []


async def test_an_unlocked_conversation_gets_the_end() -> None:
    desk = Desk(head_sha=SHA)
    desk.hub.lacks["comment"] = Permanent("github_refused", "locked", hint="Unlock it.")
    await desk.later(0)
    desk.hub.lacks.clear()
    desk.succeed("one", "two")
    await desk.later()
    assert desk.comment.startswith("### ✅ done")


@pytest.mark.parametrize("restarts", [False, True])
async def test_without_an_app_the_check_is_a_status(restarts: bool) -> None:
    desk = Desk(head_sha=SHA)
    desk.hub.login = "ann"
    refused = Permanent("github_refused", "You must authenticate via a GitHub App.", hint="Do.")
    desk.hub.lacks = {"check": refused, "edit check": refused}
    await desk.later(0)
    facts = desk.run.order
    newer = "b" * 40
    desk.run = msgspec.structs.replace(
        desk.run, order={**facts, "github": {**facts["github"], "head_sha": newer}}
    )
    desk.succeed("one", "two")
    if restarts:
        await desk.restart()
    else:
        await desk.later()
    assert desk.comment.startswith("### ✅ done")
    states = [(sha, state) for sha, state, _ in desk.hub.statuses]
    assert states == [(SHA, "pending"), (newer, "success"), (SHA, "success")]
    assert desk.logged == []
