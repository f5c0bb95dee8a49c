"""Every verb in every state does what docs/reference/status.md says."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import psutil
import pytest
from site_bench import IDLE, SCRIPT, Site, git

from agent_work_orders.clock import iso
from agent_work_orders.errors import Conflict, Forbidden, NotFound, Refused
from agent_work_orders.security.roles import LOCAL_OPERATOR, Caller
from agent_work_orders.work_orders import inspect, steer
from agent_work_orders.work_orders.context import Context
from agent_work_orders.work_orders.outgoing.progress_view import draw
from agent_work_orders.workflow_engine import phases

GATED = """
name: gated
tasks:
  ask: {approval: Go on?}
  work: {needs: [ask], uses: agent.prompt, with: {prompt: go}}
"""
FAILING = "default: [{fail: {kind: exit_code}}]"

Verb = Callable[[Context, str, Caller], Awaitable[object]]


async def prompt(context: Context, order_id: str, caller: Caller) -> object:
    return await steer.prompt(context, order_id, "more", caller)


VERBS: dict[str, Verb] = {
    "prompt": prompt,
    "pause": steer.pause,
    "resume": steer.resume,
    "cancel": steer.cancel,
    "retry": steer.retry,
    "rollback": steer.rollback,
}

# The status afterwards, or None for 409. `retry` without a failed task has nothing to do.
TABLE: dict[str, dict[str, tuple[str, ...] | None]] = {
    "running": {
        "prompt": ("running",), "pause": ("running",), "resume": None, "cancel": ("cancelled",),
        "retry": None, "rollback": ("cancelled",),
    },
    "paused": {
        "prompt": ("paused",), "pause": ("paused",), "resume": ("waiting",),
        "cancel": ("cancelled",), "retry": None, "rollback": ("cancelled",),
    },
    "waiting": {
        "prompt": ("waiting",), "pause": ("paused",), "resume": None, "cancel": ("cancelled",),
        "retry": None, "rollback": ("cancelled",),
    },
    "completed": {
        "prompt": None, "pause": None, "resume": None, "cancel": None, "retry": None,
        "rollback": ("cancelled",),
    },
    "failed": {
        "prompt": None, "pause": None, "resume": None, "cancel": None,
        "retry": ("failed", "running", "pending"), "rollback": ("cancelled",),
    },
    "cancelled": {
        "prompt": None, "pause": None, "resume": None, "cancel": ("cancelled",),
        "retry": ("waiting",), "rollback": ("cancelled",),
    },
}  # fmt: skip


async def in_state(site: Site, state: str) -> str:
    if state in ("paused", "waiting", "cancelled"):
        order_id = await site.submit(workflow_source=GATED)
        await site.until(order_id, "waiting")
        if state == "paused":
            await steer.pause(site.context, order_id, LOCAL_OPERATOR)
        if state == "cancelled":
            await steer.cancel(site.context, order_id, LOCAL_OPERATOR)
    else:
        script = {"running": IDLE, "completed": SCRIPT, "failed": FAILING}[state]
        order_id = await site.submit(script=script)
    await site.until(order_id, state)
    if state == "running":
        await site.until_task(order_id, "build", "running")
    await site.context.backlog.settled()  # what people are shown of a question is an event, too
    return order_id


@pytest.mark.fault("K15")
@pytest.mark.parametrize("state", TABLE)
async def test_the_table_holds(site: Site, state: str) -> None:
    wrong = []
    for name, verb in VERBS.items():
        order_id = await in_state(site, state)
        events = site.essential_events()
        expected = TABLE[state][name]
        try:
            await verb(site.context, order_id, LOCAL_OPERATOR)
        except Conflict as refused:
            if expected is not None or refused.code != "order_state_conflict" or not refused.hint:
                wrong.append((name, "refused", refused.code))
            assert site.essential_events() == events, name
        else:
            if expected is None:
                wrong.append((name, "done", (await site.show(order_id)).status))
                continue
            try:
                async with asyncio.timeout(10):
                    await _until(site, order_id, expected)
            except TimeoutError:
                wrong.append((name, "became", (await site.show(order_id)).status))
        if (await site.show(order_id)).status not in ("completed", "failed", "cancelled"):
            await steer.cancel(site.context, order_id, LOCAL_OPERATOR)
            await _until(site, order_id, ("cancelled", "failed"))
    assert wrong == []


async def _until(site: Site, order_id: str, statuses: tuple[str, ...]) -> None:
    while (await site.show(order_id)).status not in statuses:
        await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("caller", "kind"),
    [
        (Caller(name="v", role="viewer"), Forbidden),
        (Caller(name="o", role="admin", repositories=("other-1",)), NotFound),
    ],
)
async def test_who_may_not_changes_nothing(site: Site, caller: Caller, kind: type[Refused]) -> None:
    order_id = await in_state(site, "waiting")
    before = site.written()
    for verb in VERBS.values():
        with pytest.raises(kind):
            await verb(site.context, order_id, caller)
    with pytest.raises(kind):
        await steer.override(site.context, order_id, caller, path="work", action="skip")
    assert site.written() == before


@pytest.mark.fault("K15")
async def test_verbs_that_race_leave_a_defined_state(site: Site) -> None:
    order_id = await in_state(site, "running")
    results = await asyncio.gather(
        *(verb(site.context, order_id, LOCAL_OPERATOR) for verb in list(VERBS.values()) * 3),
        return_exceptions=True,
    )
    strange = [r for r in results if isinstance(r, BaseException) and not isinstance(r, Conflict)]
    assert strange == []
    async with asyncio.timeout(15):
        await _until(site, order_id, ("cancelled",))


async def test_the_servers_limit_of_silence_ends_an_agent(site: Site) -> None:
    site.environ["AWO_AGENT_IDLE_S"] = "1"
    await site.restart()
    agent = {"name": "command", "argv": ["sleep", "600"]}
    order_id = await site.submit(agent=agent, agent_timeout_s=3_600)
    record = await site.until(order_id, "failed")
    assert record.error_code == "agent_timeout"
    assert "AWO_AGENT_IDLE_S" in (record.error_hint or "")


async def test_cancelling_ends_the_agent(site: Site) -> None:
    script = "default: [{run: [sh, -c, 'touch begun; sleep 61.5']}]"
    order_id = await site.submit(script=script)
    folder = site.context.home / "workspaces" / order_id / "repo"
    async with asyncio.timeout(10):
        while not (folder / "begun").exists():
            await asyncio.sleep(0.01)
        await steer.cancel(site.context, order_id, LOCAL_OPERATOR)
        await site.until(order_id, "cancelled")
        while folder.parent.exists():
            await asyncio.sleep(0.01)
    found = psutil.process_iter(["cmdline"])
    assert [one.pid for one in found if "61.5" in (one.info["cmdline"] or [])] == []


async def test_a_retry_runs_what_failed_and_only_that(site: Site) -> None:
    flow = """
name: two
tasks:
  first: {uses: sandbox.exec, with: {argv: [sh, -c, "echo x >> $HOME/first"]}}
  second: {needs: [first], uses: sandbox.exec, with: {argv: [cat, missing.txt]}}
"""
    order_id = await site.submit(workflow_source=flow)
    record = await site.until(order_id, "failed")
    assert record.error_code == "command_failed" and record.error_hint
    await steer.retry(site.context, order_id, LOCAL_OPERATOR)
    await site.until(order_id, "failed")
    async with asyncio.timeout(10):
        while (await site.task(order_id, "second"))["generation"] != 2:
            await asyncio.sleep(0.01)
        await site.until(order_id, "failed")
    assert (await site.task(order_id, "first"))["generation"] == 1
    with pytest.raises(NotFound) as unknown:
        await steer.retry(site.context, order_id, LOCAL_OPERATOR, path="third")
    assert unknown.value.code == "task_unknown"


async def test_a_person_decides_a_stuck_task_and_is_on_record(site: Site) -> None:
    flow = """
name: stuck
tasks:
  slow: {uses: sandbox.exec, with: {argv: [sleep, "60"]}}
  after:
    needs: [slow]
    uses: sandbox.exec
    with: {argv: [echo, "{{ tasks.slow.outputs.stdout }}"]}
"""
    order_id = await site.submit(workflow_source=flow)
    await site.until_task(order_id, "slow", "running")
    await steer.override(
        site.context,
        order_id,
        LOCAL_OPERATOR,
        path="slow",
        action="succeed",
        outputs={"stdout": "by hand"},
    )
    await site.until(order_id, "completed")
    assert (await site.task(order_id, "after"))["outputs"]["stdout"] == "by hand\n"
    [entry] = [
        e
        for e in await site.context.store.audit.page(order_id=order_id)
        if e.what == "order.override"
    ]
    assert entry.who == "local" and entry.details["action"] == "succeed"


async def test_rollback_takes_back_what_was_published(site: Site) -> None:
    order_id = await in_state(site, "completed")
    record = await site.show(order_id)
    assert git(site.source, "branch", "--list", record.git_branch_name)
    await steer.rollback(site.context, order_id, LOCAL_OPERATOR)
    await _until(site, order_id, ("cancelled",))
    assert git(site.source, "branch", "--list", record.git_branch_name) == ""
    review = inspect.review(site.context, record)
    assert review is not None and review.state == "closed"
    assert (await site.show(order_id)).github_pull_request_url is None
    for again in (None, "publish"):
        with pytest.raises(Conflict) as over:
            await steer.retry(site.context, order_id, LOCAL_OPERATOR, path=again)
        assert "rolled back" in over.value.hint


@pytest.mark.parametrize(
    ("text", "code"),
    [("", "prompt_empty"), ("  ", "prompt_empty"), ("/nope x", "command_unknown"),
     ("a\0", "text_invalid"), ("x" * 65_537, "text_too_long")],
)  # fmt: skip
async def test_a_prompt_without_sense_is_refused(site: Site, text: str, code: str) -> None:
    order_id = await in_state(site, "waiting")
    before = site.written()
    with pytest.raises(Refused) as refused:
        await steer.prompt(site.context, order_id, text, LOCAL_OPERATOR)
    assert refused.value.code == code
    assert site.written() == before


async def test_a_prompt_reaches_the_agent_in_its_turn(site: Site) -> None:
    script = """
default: [{run: [sh, -c, 'echo turn >> turns.txt; sleep 0.5']}, {text: ok}]
"""
    order_id = await site.submit(script=script)
    await site.until_task(order_id, "build", "running")
    await steer.prompt(site.context, order_id, "and this", LOCAL_OPERATOR)
    record = await site.until(order_id, "completed")
    assert git(site.source, "show", f"{record.git_branch_name}:turns.txt") == "turn\nturn"
    said = site.context.transcripts.read(order_id, "build")
    assert sum("and this" in entry.text for _, entry in said if entry.kind == "prompt") == 1
    assert record.warnings == []


async def test_a_retry_is_no_further_beginning(site: Site) -> None:
    """The limit counts orders begun; what was begun goes on, and what waits says until when."""
    ann = Caller(name="ann", role="operator")
    await site.stop()
    site.environ["AWO_STARTS_PER_REPOSITORY_PER_HOUR"] = "1"
    await site.start()
    begun = await site.submit(ann, script=FAILING)
    await site.until(begun, "failed")
    waits = await site.submit(ann)
    assert (await site.show(waits)).waiting_reason == "rate_limit"
    for _ in range(2):
        attempts = (await site.task(begun, "build"))["attempt"]
        await steer.retry(site.context, begun, ann)
        await site.until(begun, "failed")
        assert (await site.task(begun, "build"))["attempt"] > attempts
        await site.restart()
    assert (await site.show(waits)).waiting_reason == "rate_limit"
    until_ms = site.context.runs.held_until_ms(waits)
    run = await site.context.runs.run(waits)
    assert run is not None and until_ms is not None
    view = draw(run, queue_until_ms=until_ms)
    assert view.title.startswith(f"⏳ waiting until {iso(until_ms)}")


async def test_what_was_said_with_a_retry_was_heard_also_if_it_failed(site: Site) -> None:
    order_id = await site.submit(script=FAILING)
    await site.until(order_id, "failed")
    await steer.retry(site.context, order_id, LOCAL_OPERATOR, text="Use tabs")
    await site.until(order_id, "failed")
    run = await site.context.runs.run(order_id)
    assert run is not None
    (said,) = [one for one in phases.warnings(run) if "prompt" in one]
    assert said.endswith("was given with a task whose agent did not end well")
