"""From a delivery to an order: once, for people who may, whatever comes twice or late."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from intake_bench import (
    NOW,
    NOW_MS,
    Desk,
    base,
    changed,
    comment,
    issue,
    labeled,
    person,
    pulled,
)

from agent_work_orders.errors import Environmental, Transient
from agent_work_orders.github_integration.quota import QuotaHeld
from agent_work_orders.security.roles import LOCAL_OPERATOR
from agent_work_orders.work_orders import steer
from agent_work_orders.work_orders.incoming import intake as intakes

DAY_MS = 86_400_000
REVIEWS = b"github: {pull_request: [{workflow: gated}], commands: {review: gated}}"


@pytest.fixture
async def desk(folder: Path) -> AsyncIterator[Desk]:
    async with Desk(folder).opened() as opened:
        opened.hub.put_issue()
        opened.hub.put_pull()
        yield opened


async def test_a_label_makes_an_order_of_the_text_as_it_was(desk: Desk) -> None:
    desk.hub.put_issue(title="/edited later", body="Now do something else")
    found = await desk.deliver("issues", labeled())
    assert found.state == "handled"
    [order] = await desk.orders()
    assert order.workflow_type == "agent_workflow_plan_build_test"
    assert order.github_issue_number == "7"
    assert order.created_by == "github:ann"
    assert order.title == "Broken button"
    prompt = order.initial_prompt or ""
    assert "It does nothing." in prompt and "something else" not in prompt
    assert prompt.startswith("Resolve the issue #7 of acme/site.")
    assert "<untrusted source=" in prompt
    run = await desk.run_of(order.agent_work_order_id)
    facts = run.order["github"]
    assert (facts["repository_id"], facts["issue"], facts["sender"]) == (1, 7, "ann")
    assert run.order["metered"], "the limits of starting hold for it"
    assert desk.heard.reactions == [(7, None, "eyes")]
    assert ("github:ann", "order.create") in await desk.audited()


@pytest.mark.fault("C4")
async def test_one_event_under_two_ids_is_one_order(desk: Desk) -> None:
    for _ in range(2):
        assert (await desk.deliver("issues", labeled())).state == "handled"
    assert len(await desk.orders()) == 1
    assert (await desk.audited()).count(("github:ann", "order.create")) == 1


@pytest.mark.fault("C4")
async def test_it_is_one_order_also_after_the_first_has_ended(desk: Desk) -> None:
    await desk.deliver("issues", labeled())
    [order] = await desk.orders()
    await steer.cancel(desk.house.context, order.agent_work_order_id, LOCAL_OPERATOR)
    again = await desk.deliver("issues", labeled())
    assert order.agent_work_order_id in again.why
    assert len(await desk.orders()) == 1
    later = labeled(updated_at="2027-01-15T08:00:09Z")
    await desk.deliver("issues", later)
    assert len(await desk.orders()) == 2, "the label was put there once more"


@pytest.mark.fault("A2")
async def test_a_crash_between_order_and_settling_gives_one_order(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle = desk.house.context.store.deliveries.settle

    async def crash(*_: Any) -> None:
        raise RuntimeError("killed")

    guid = await desk.take("issues", labeled())
    monkeypatch.setattr(desk.house.context.store.deliveries, "settle", crash)
    await desk.intake.sweep()
    monkeypatch.setattr(desk.house.context.store.deliveries, "settle", settle)
    desk.fresh()
    await desk.intake.sweep()
    found = await desk.house.context.store.deliveries.find(guid)
    assert found is not None and found.state == "handled" and found.attempts == 2
    assert len(await desk.orders()) == 1


async def test_a_claim_whose_order_was_never_made_does_not_stop_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed after the key was taken; the next time the rules name another workflow."""
    submit = desk.house.context.runs.submit

    async def crash(*_: Any) -> None:
        raise RuntimeError("killed")

    await desk.take("issues", labeled())
    monkeypatch.setattr(desk.house.context.runs, "submit", crash)
    await desk.intake.sweep()
    monkeypatch.setattr(desk.house.context.runs, "submit", submit)
    desk.hub.files[".awo/config.yaml"] = b"github: {labels: {awo: gated}}"
    for _ in range(2):
        desk.fresh()
        await desk.deliver("issues", labeled())
    [order] = await desk.orders()
    assert order.workflow_type == "gated"


async def test_one_open_order_about_a_thing_unless_a_command_asks_again(desk: Desk) -> None:
    await desk.deliver("issues", labeled())
    later = await desk.deliver("issues", labeled(updated_at="2027-01-15T08:00:09Z"))
    assert later.state == "ignored" and "at work" in later.why
    for _ in range(2):
        await desk.deliver("issue_comment", comment("/awo run gated"))
    made = sorted(one.workflow_type for one in await desk.orders())
    assert made == ["agent_workflow_plan_build_test", "gated"]
    await desk.deliver("issue_comment", comment("/awo run gated", comment_id=2))
    assert len(await desk.orders()) == 3


@pytest.mark.fault("C6")
@pytest.mark.parametrize("now", [{"state": "closed"}, {"labels": ()}, None])
async def test_what_holds_no_more_starts_nothing(desk: Desk, now: Any) -> None:
    if now is None:
        desk.hub.issues.clear()
    else:
        desk.hub.put_issue(**now)
    assert (await desk.deliver("issues", labeled())).state == "ignored"
    assert await desk.orders() == []


@pytest.mark.fault("C6")
@pytest.mark.parametrize(("labels", "made"), [((), 0), (("awo",), 1)])
async def test_the_label_of_a_pull_request_must_still_be_there(
    desk: Desk, labels: tuple[str, ...], made: int
) -> None:
    desk.hub.put_issue(9, labels=labels, is_pull_request=True)
    await desk.deliver("pull_request", changed(pulled("labeled"), label={"name": "awo"}))
    assert len(await desk.orders()) == made


@pytest.mark.fault("C6")
async def test_a_storm_of_pushes_reviews_the_last_state_once(desk: Desk) -> None:
    desk.hub.files[".awo/config.yaml"] = REVIEWS
    heads = [f"{n:x}" * 40 for n in range(1, 9)]
    desk.hub.put_pull(head_sha=heads[-1])
    for sha in heads:
        head = {"sha": sha, "ref": "topic", "repo": {"id": 1}}
        await desk.take("pull_request", pulled("synchronize", head=head))
    await desk.intake.sweep()
    [order] = await desk.orders()
    first = await desk.run_of(order.agent_work_order_id)
    assert first.order["github"]["head_sha"] == heads[-1]
    desk.hub.put_pull(head_sha="f" * 40)
    await desk.deliver("pull_request", pulled("synchronize"))
    stages = [(await desk.run_of(one.agent_work_order_id)).stage for one in await desk.orders()]
    assert sorted(stages) == ["active", "ended"], "the older review is cancelled"


@pytest.mark.fault("C11")
@pytest.mark.parametrize("who", ["eve", "tim", "stranger"])
async def test_only_writers_are_heard(desk: Desk, who: str) -> None:
    for event, payload in (
        ("issues", labeled(who)),
        ("issue_comment", comment("/awo run", who)),
        ("pull_request", pulled(sender=who)),
    ):
        assert (await desk.deliver(event, payload)).state == "ignored"
    assert await desk.orders() == []
    assert (await desk.audited()).count((f"github:{who}", "github.not_heard")) >= 2
    assert desk.heard.said == [], "strangers cannot make us talk"


@pytest.mark.fault("C11")
async def test_bots_and_our_own_account_are_not_heard(desk: Desk) -> None:
    desk.hub.permissions |= {"awo[bot]": "admin", "other[bot]": "admin", "machine": "admin"}
    ours = changed(labeled(), sender=person("awo[bot]", "Bot"))
    other = changed(labeled(), sender=person("other[bot]", "Bot"))
    hidden = changed(labeled(), sender=person("machine", "Bot"))
    for payload in (ours, other, hidden):
        assert (await desk.deliver("issues", payload)).state == "ignored"
    own = comment("/awo run\n\n<!-- awo:x -->")
    by_app = comment("/awo run")
    by_app["comment"]["performed_via_github_app"] = {"id": 1}
    for_another = comment("/awo run")
    for_another["comment"]["user"] = person("bob")
    for payload in (own, by_app, for_another):
        assert (await desk.deliver("issue_comment", payload)).state == "ignored"
    assert await desk.orders() == []
    assert not any(call.startswith("permission") for call in desk.hub.calls)


async def test_permissions_are_asked_once_in_five_minutes(desk: Desk) -> None:
    for n in range(3):
        await desk.deliver("issue_comment", comment("/awo help", comment_id=n + 1))
    assert desk.hub.calls.count("permission ann") == 1
    desk.clock.at_ms += 301_000
    desk.hub.permissions["ann"] = "read"
    found = await desk.deliver("issue_comment", comment("/awo help", comment_id=9))
    assert found.state == "ignored"
    assert desk.hub.calls.count("permission ann") == 2


async def test_where_nothing_can_be_done_who_asked_is_told_why(desk: Desk) -> None:
    """A server that the operator did not allow: said on the issue, and not only in a log."""
    desk.server_url = "http://127.0.0.1:1"
    desk.fresh()
    desk.hub.put_issue()
    found = await desk.deliver("issues", labeled())
    assert found.state == "failed"
    [(number, _, text)] = desk.heard.said
    assert number == 7 and text.startswith("Not started: ") and "AWO_GIT_ORIGINS" in text
    for nothing in (labeled("eve"), labeled(label="bug")):
        await desk.deliver("issues", nothing)
    assert len(desk.heard.said) == 1, "strangers, and who asked for nothing, are not"


async def test_a_command_on_a_line_of_a_change_is_seen_to(desk: Desk) -> None:
    desk.hub.put_pull()
    said = comment("/awo help", number=9, comment_id=33)
    said["pull_request"] = pulled()["pull_request"]
    del said["issue"]
    found = await desk.deliver("pull_request_review_comment", said)
    assert found.state == "handled", found
    assert desk.heard.on_lines == [33] and desk.heard.reactions == [(9, 33, "eyes")]
    assert "<" not in desk.heard.said[0][2], "it would be shown as &lt;"


async def test_a_permission_is_of_an_account_and_its_name(desk: Desk) -> None:
    """A name may be somebody else's a minute later."""
    await desk.deliver("issue_comment", comment("/awo help"))
    other = comment("/awo run", comment_id=2)
    other["sender"]["id"] = other["comment"]["user"]["id"] = 1234
    desk.hub.permissions["ann"] = "read"
    assert (await desk.deliver("issue_comment", other)).state == "ignored"
    assert desk.hub.calls.count("permission ann") == 2
    assert await desk.orders() == []


async def test_edits_ask_for_nothing(desk: Desk) -> None:
    for event, payload in (
        ("issues", changed(labeled(), action="edited")),
        ("issue_comment", changed(comment("/awo run"), action="edited")),
        ("issue_comment", changed(comment("/awo run"), action="deleted")),
    ):
        assert (await desk.deliver(event, payload)).state == "ignored"
    assert await desk.orders() == []
    assert desk.hub.calls == [], "nor does it cost anything"


@pytest.mark.fault("C5")
async def test_an_old_event_is_ignored_however_it_is_signed(desk: Desk) -> None:
    desk.clock.at_ms = NOW_MS + 8 * DAY_MS
    found = await desk.deliver("issues", labeled())
    assert found.state == "ignored" and "stale" in found.why
    assert await desk.orders() == []
    assert desk.hub.calls == [], "who replays costs us nothing"
    assert await desk.audited() == [("github:ann", "github.not_heard")]


@pytest.mark.fault("C5")
async def test_a_push_is_as_old_as_it_says(desk: Desk) -> None:
    desk.hub.files[".awo/config.yaml"] = b"github: {push: [{branches: [main], workflow: gated}]}"
    push = {**base("bob", ""), "ref": "refs/heads/main", "after": "b" * 40}
    push["repository"] |= {"pushed_at": (NOW_MS - 8 * DAY_MS) // 1000}
    assert "stale" in (await desk.deliver("push", push)).why
    push["repository"] |= {"pushed_at": NOW_MS // 1000}
    assert (await desk.deliver("push", push)).state == "handled"
    assert len(await desk.orders()) == 1


@pytest.mark.fault("J5")
async def test_a_fork_needs_a_maintainer(desk: Desk) -> None:
    desk.hub.files[".awo/config.yaml"] = REVIEWS
    desk.hub.put_pull(from_fork=True, author="eve", head_branch="evil")
    opened = await desk.deliver("pull_request", pulled(sender="eve", fork=True))
    assert (opened.state, await desk.orders()) == ("ignored", [])
    told = comment("/awo review", "ann", number=9, pull=True)
    assert (await desk.deliver("issue_comment", told)).state == "handled"
    [order] = await desk.orders()
    assert order.base_branch == "main", "the fork's branch is not of this repository"
    run = await desk.run_of(order.agent_work_order_id)
    assert run.order["github"]["from_fork"] is True
    assert {call for call in desk.hub.calls if call.startswith("file")} == {
        "file .awo/config.yaml None"
    }, "rules come from the default branch"


async def test_wrong_rules_are_told_with_their_line(desk: Desk) -> None:
    desk.hub.files[".awo/config.yaml"] = b"github:\n  labels:\n    awo: 7\n"
    found = await desk.deliver("issues", labeled())
    assert found.state == "ignored"
    assert ".awo/config.yaml:3:5" in found.why
    [(number, _, text)] = desk.heard.said
    assert number == 7 and ".awo/config.yaml:3:5" in text


async def test_wrong_rules_are_told_only_to_writers_who_ask(desk: Desk) -> None:
    desk.hub.files[".awo/config.yaml"] = b"github: {nonsense: 1}"
    desk.hub.permissions |= {"awo[bot]": "admin", "other[bot]": "admin"}
    by_bot = changed(labeled(), sender=person("other[bot]", "Bot"))
    ours = changed(labeled(), sender=person("awo[bot]", "Bot"))
    by_app = comment("/awo run")
    by_app["comment"]["performed_via_github_app"] = {"id": 1}
    to_bob = changed(labeled(), action="assigned", assignee=person("bob"))
    for event, payload in (
        ("issue_comment", comment("/awo run", "eve")), ("issues", labeled("tim")),
        ("issues", by_bot), ("issues", ours), ("issue_comment", by_app), ("issues", to_bob),
        ("issue_comment", comment("/awoo", "ann")), ("pull_request", pulled(sender="ann")),
        ("pull_request", pulled(sender="eve", fork=True)),
    ):  # fmt: skip
        assert (await desk.deliver(event, payload)).state == "ignored"
        assert desk.heard.said == [], payload
    heard = [who for who, what in await desk.audited() if what == "github.not_heard"]
    assert heard == ["github:eve", "github:tim", "github:other[bot]", "github:ann"]
    await desk.deliver("issue_comment", comment("/awo run", "ann", comment_id=9))
    to_us = changed(labeled(), action="assigned", assignee=person("awo[bot]", "Bot"))
    await desk.deliver("issues", to_us)
    assert len(desk.heard.said) == 2


async def test_an_unknown_workflow_is_told_and_not_tried_again(desk: Desk) -> None:
    found = await desk.deliver("issue_comment", comment("/awo run nothing-there"))
    assert (found.state, found.attempts) == ("ignored", 1)
    assert "workflow_unknown" in found.why
    assert "no workflow" in desk.heard.said[0][2]


async def test_a_push_and_a_failed_check_follow_the_rules_alone(desk: Desk) -> None:
    desk.hub.files[".awo/config.yaml"] = (
        b"github: {push: [{branches: [main], workflow: gated}],"
        b" check_failure: [{branches: ['*'], checks: ['ci*'], workflow: gated}]}"
    )
    push = {**base("stranger", ""), "ref": "refs/heads/main", "after": "b" * 40, "deleted": False}
    suite = {"head_branch": "main"}
    run = {
        "id": 5, "name": "ci/test", "head_sha": "b" * 40, "conclusion": "failure",
        "check_suite": suite, "app": {"slug": "actions"}, "updated_at": NOW,
    }  # fmt: skip
    check = {**base("stranger", "completed"), "check_run": run}
    check["sender"] = person("actions[bot]", "Bot")
    for event, payload in (("push", push), ("check_run", check)):
        for _ in range(2):
            assert (await desk.deliver(event, payload)).state == "handled"
    assert [(one.created_by, one.base_branch) for one in await desk.orders()] == [
        ("github:rules", "main")
    ] * 2
    ours = "feat-issue-7-wo-" + "a" * 16
    for wrong in (
        {"check_suite": {"head_branch": None}},
        {"check_suite": {"head_branch": ours}},
        {"app": {"slug": "awo"}},
        {"name": "lint"},
        {"conclusion": "success"},
    ):
        payload = {**check, "check_run": {**run, "id": 6, **wrong}}
        assert (await desk.deliver("check_run", payload)).state == "ignored", wrong
    assert len(await desk.orders()) == 2


FAILED = {
    "id": 5, "name": "ci", "head_sha": "f" * 40, "conclusion": "failure",
    "check_suite": {"head_branch": "main"}, "app": {"slug": "actions"}, "updated_at": NOW,
}  # fmt: skip
CHECKS = b"github: {check_failure: [{branches: [main], workflow: gated}]}"


@pytest.mark.fault("J5")
async def test_a_failed_check_that_somebody_without_write_access_caused_starts_nothing(
    desk: Desk,
) -> None:
    """A fork's branch may be named as one of ours."""
    desk.hub.files[".awo/config.yaml"] = CHECKS
    by_eve = {**base("eve", "completed"), "check_run": FAILED}
    found = await desk.deliver("check_run", by_eve)
    assert (found.state, await desk.orders()) == ("ignored", [])
    assert ("github:eve", "github.not_heard") in await desk.audited()
    by_ann = {**base("ann", "completed"), "check_run": FAILED}
    assert (await desk.deliver("check_run", by_ann)).state == "handled"
    assert [one.created_by for one in await desk.orders()] == ["github:ann"]


async def test_a_commit_whose_checks_fail_is_one_order_also_after_it_ended(desk: Desk) -> None:
    desk.hub.files[".awo/config.yaml"] = CHECKS
    await desk.deliver("check_run", {**base("ann", "completed"), "check_run": FAILED})
    [order] = await desk.orders()
    await steer.cancel(desk.house.context, order.agent_work_order_id, LOCAL_OPERATOR)
    other = {**FAILED, "id": 6, "name": "lint"}
    again = await desk.deliver("check_run", {**base("ann", "completed"), "check_run": other})
    assert order.agent_work_order_id in again.why
    assert len(await desk.orders()) == 1
    newer = {**other, "id": 7, "head_sha": "e" * 40}
    await desk.deliver("check_run", {**base("ann", "completed"), "check_run": newer})
    assert len(await desk.orders()) == 2


@pytest.mark.parametrize(
    "trouble",
    [
        QuotaHeld("installation:1", "primary_limit", NOW_MS + 60_000),
        Transient("github_unreachable", "no route", hint="Wait."),
        Environmental("github_credentials_refused", "401", hint="Look."),
    ],
)
async def test_limits_and_outages_hold_and_lose_nothing(desk: Desk, trouble: Any) -> None:
    desk.hub.trouble = trouble
    for _ in range(20):
        await desk.deliver("issues", labeled(), guid="0" * 8 + "-0000-0000-0000-" + "0" * 12)
        desk.clock.at_ms += 1_000
    [waiting] = await desk.house.context.store.deliveries.page()
    assert (waiting.state, waiting.attempts) == ("waiting", 0)
    assert len(desk.hub.calls) < 6, "it is not asked over and over"
    desk.hub.trouble = None
    desk.clock.at_ms = NOW_MS + 600_000
    await desk.intake.sweep()
    assert len(await desk.orders()) == 1


@pytest.mark.fault("C12")
async def test_what_is_about_a_repository_out_of_reach_is_set_aside(desk: Desk) -> None:
    """Deliveries of a repository where the App is not installed must not fill the store."""
    desk.hub.trouble = Environmental("github_access_lost", "not installed there", hint="Look.")
    guid = await desk.take("issues", labeled())
    for _ in range(20):
        await desk.intake.sweep()
        desk.clock.at_ms += 60_000
    found = await desk.house.context.store.deliveries.find(guid)
    assert found is not None
    assert (found.state, found.attempts) == ("failed", intakes.MAX_ATTEMPTS)
    assert "not installed there" in found.why
    desk.hub.trouble = None
    assert await desk.house.context.store.deliveries.reopen(guid)
    await desk.intake.sweep()
    assert len(await desk.orders()) == 1, "when it is installed, a person has it tried again"


async def test_what_is_held_for_days_is_given_up_and_can_be_tried_again(desk: Desk) -> None:
    desk.hub.trouble = Transient("github_unreachable", "no route", hint="Wait.")
    guid = await desk.take("issues", labeled())
    desk.clock.at_ms += 4 * DAY_MS
    await desk.intake.sweep()
    found = await desk.house.context.store.deliveries.find(guid)
    assert found is not None and found.state == "failed" and "no route" in found.why
    desk.hub.trouble = None
    assert await desk.house.context.store.deliveries.reopen(guid)
    await desk.intake.sweep()
    assert len(await desk.orders()) == 1


async def test_poison_fails_and_blocks_nobody(desk: Desk) -> None:
    """The first one breaks us each time; the second is handled at once."""
    poison = await desk.take("issues", labeled())
    desk.hub.trouble = ZeroDivisionError()
    await desk.intake.sweep()
    desk.hub.trouble = None
    assert (await desk.deliver("issue_comment", comment("/awo run gated"))).state == "handled"
    desk.hub.trouble = ZeroDivisionError()
    for _ in range(10):
        desk.clock.at_ms += 400_000
        await desk.intake.sweep()
    found = await desk.house.context.store.deliveries.find(poison)
    assert found is not None
    assert (found.state, found.attempts) == ("failed", intakes.MAX_ATTEMPTS)
    assert "ZeroDivisionError" in found.why
    assert found.has_body, "a person may have it tried again"


async def test_it_runs_by_itself_once_it_is_woken(desk: Desk) -> None:
    task = asyncio.get_running_loop().create_task(desk.intake.run())
    try:
        await desk.take("issues", labeled())
        desk.intake.wake()
        async with asyncio.timeout(30):
            while not await desk.orders():
                await asyncio.sleep(0.01)
    finally:
        task.cancel()


async def test_without_a_hub_it_fails_and_says_what_is_missing(desk: Desk) -> None:
    desk.intake = intakes.Intake(desk.house.context, None, server_url=desk.server_url)
    found = await desk.deliver("issues", labeled())
    assert found.state == "failed" and "GITHUB_APP_ID" in found.why


@pytest.mark.fault("C12")
@pytest.mark.parametrize(
    ("event", "action"),
    [
        ("installation", "deleted"),
        ("installation", "suspend"),
        ("installation_repositories", "removed"),
        ("repository", "renamed"),
        ("repository", "transferred"),
        ("repository", "archived"),
    ],
)
async def test_orders_wait_while_the_repository_is_out_of_reach(
    desk: Desk, event: str, action: str
) -> None:
    await desk.deliver("issues", labeled())
    [order] = await desk.orders()
    order_id = order.agent_work_order_id
    repositories = [{"id": 1, "full_name": "acme/site"}]
    payload = changed(
        base("bob", action), repositories=repositories, repositories_removed=repositories
    )
    desk.hub.archived = action == "archived"
    desk.hub.out_of_reach = event.startswith("installation")
    for _ in range(2):
        assert (await desk.deliver(event, payload)).state == "handled"
    run = await desk.run_of(order_id)
    assert (run.paused, run.pause_reason) == ("asked", "access_lost")
    logged = (await desk.house.context.store.logbook.page(order_id)).log_entries
    assert "github_access_lost" in [line.event for line in logged]
    back = changed(base("bob", "added"), repositories_added=repositories, repositories_removed=[])
    await desk.deliver("installation_repositories", back)
    assert (await desk.run_of(order_id)).paused == ""


@pytest.mark.fault("C12")
@pytest.mark.parametrize(
    ("event", "action"),
    [
        ("installation", "deleted"),
        ("installation", "suspend"),
        ("installation_repositories", "removed"),
        ("repository", "archived"),
        ("repository", "deleted"),
    ],
)
@pytest.mark.parametrize("named", [True, False])
async def test_a_loss_that_is_told_when_access_is_back_pauses_nothing(
    desk: Desk, event: str, action: str, named: bool
) -> None:
    await desk.deliver("issues", labeled())
    [order] = await desk.orders()
    repositories = [{"id": 1, "full_name": "acme/site"}] if named else []
    late = changed(
        base("bob", action), repositories=repositories, repositories_removed=repositories,
        installation={"id": 5, "account": person("acme", "Organization")},
    )  # fmt: skip
    assert (await desk.deliver(event, late)).state == "handled"
    assert (await desk.run_of(order.agent_work_order_id)).paused == ""


@pytest.mark.fault("C12")
async def test_a_loss_waits_while_the_hub_cannot_be_asked(desk: Desk) -> None:
    await desk.deliver("issues", labeled())
    [order] = await desk.orders()
    desk.hub.trouble = QuotaHeld("installation:1", "primary_limit", NOW_MS + 60_000)
    removed = changed(
        base("bob", "removed"), repositories_removed=[{"id": 1, "full_name": "acme/site"}]
    )
    found = await desk.deliver("installation_repositories", removed)
    assert (found.state, found.attempts) == ("waiting", 0)
    assert (await desk.run_of(order.agent_work_order_id)).paused == ""
    desk.hub.trouble, desk.hub.out_of_reach = None, True
    desk.clock.at_ms += 60_000
    await desk.intake.sweep()
    assert (await desk.run_of(order.agent_work_order_id)).paused == "asked"


@pytest.mark.fault("C12")
async def test_another_repository_of_the_same_name_is_not_the_one_that_is_gone(desk: Desk) -> None:
    gone = labeled()
    gone["repository"] |= {"id": 4}
    await desk.deliver("issues", gone)
    [order] = await desk.orders()
    deleted = base("bob", "deleted")
    deleted["repository"] |= {"id": 4}
    await desk.deliver("repository", deleted)
    assert (await desk.run_of(order.agent_work_order_id)).paused == "asked"


@pytest.mark.fault("C12")
async def test_a_suspension_that_names_no_repository_means_all_of_its_owner(desk: Desk) -> None:
    await desk.deliver("issues", labeled())
    [order] = await desk.orders()
    for owner, action, paused in (
        ("octo", "suspend", ""), ("Acme", "suspend", "asked"), ("octo", "unsuspend", "asked"),
        ("acme", "unsuspend", ""),
    ):  # fmt: skip
        payload = {
            "action": action, "sender": person("bob"),
            "installation": {"id": 5, "account": person(owner, "Organization")},
        }  # fmt: skip
        desk.hub.out_of_reach = action == "suspend"
        assert (await desk.deliver("installation", payload)).state == "handled"
        assert (await desk.run_of(order.agent_work_order_id)).paused == paused, (owner, action)


@pytest.mark.fault("C12")
async def test_a_repository_is_followed_by_its_id_when_it_has_another_name(desk: Desk) -> None:
    await desk.deliver("issues", labeled())
    [order] = await desk.orders()
    moved = base("bob", "transferred")
    moved["repository"] |= {"full_name": "octo/renamed"}
    await desk.deliver("repository", moved)
    run = await desk.run_of(order.agent_work_order_id)
    assert (run.paused, run.pause_reason) == ("asked", "access_lost")
    other = base("bob", "unarchived")
    other["repository"] |= {"id": 2}
    assert (await desk.deliver("repository", other)).state == "handled"
    assert (await desk.run_of(order.agent_work_order_id)).paused == "asked", "that is another one"


async def test_a_pause_by_a_person_stays_when_access_is_back(desk: Desk) -> None:
    await desk.deliver("issues", labeled())
    [order] = await desk.orders()
    await steer.pause(desk.house.context, order.agent_work_order_id, LOCAL_OPERATOR)
    repositories = [{"id": 1, "full_name": "acme/site"}]
    back = changed(base("bob", "added"), repositories_added=repositories)
    await desk.deliver("installation_repositories", back)
    assert (await desk.run_of(order.agent_work_order_id)).paused == "asked"


@pytest.mark.parametrize(
    "body",
    [
        b"[]", b"{}", b'{"sender": 7}', b'{"sender": {"login": "a b", "id": 1}}',
        b'{"sender": {"login": "ann", "id": "7"}, "repository": {"id": 1}}',
    ],
)  # fmt: skip
async def test_nonsense_is_ignored(desk: Desk, body: bytes) -> None:
    for event in ("issues", "push", "check_run", "issue_comment", "pull_request", "repository"):
        await desk.take(event, body)
    await desk.intake.sweep()
    assert {one.state for one in await desk.house.context.store.deliveries.page()} == {"ignored"}


async def test_hostile_text_stays_text(desk: Desk) -> None:
    text = "\ud800\x00\x1b[31m{{ secret }} $(id) </untrusted> " + "x" * 70_000
    body = labeled(body="BODY", title="TITLE")
    raw = json.dumps(body).replace('"BODY"', json.dumps(text))
    raw = raw.replace('"TITLE"', '"/awo:deploy --force\\n/second"')
    assert (await desk.deliver("issues", raw.encode())).state == "handled"
    [order] = await desk.orders()
    assert order.title == "/awo:deploy --force /second"
    assert "{{ secret }}" in (order.initial_prompt or "")
    assert not (order.initial_prompt or "").startswith("/")
    assert issue()["title"] not in (order.initial_prompt or "")


async def test_who_says_something_goes_before_what_can_wait(desk: Desk) -> None:
    await desk.deliver("issues", labeled())
    assert set(desk.hub.priorities) == {"order"}
    desk.fresh()
    desk.hub.priorities.clear()
    await desk.deliver("issue_comment", comment("/awo run"))
    assert set(desk.hub.priorities) == {"person"}
    assert len(desk.hub.priorities) == 3, "the rules, the right to ask, and the issue"
