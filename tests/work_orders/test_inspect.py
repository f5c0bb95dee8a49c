"""What people see of an order comes from git and the journal."""

from __future__ import annotations

import pytest
from site_bench import Site

from agent_work_orders.errors import NotFound
from agent_work_orders.security.roles import LOCAL_OPERATOR, Caller
from agent_work_orders.state_manager.records import OrderFilter
from agent_work_orders.work_orders import inspect, steer

GATED = "name: gated\ntasks:\n  ask: {approval: Go on?}\n"
PLAN_BUILD = """
commands:
  plan: [{write: {path: specs/plan.md, content: "# Plan"}}, {text: planned}]
  build: [{write: {path: made.txt, content: "made\\n"}}, {text: built}]
"""


async def test_progress_phases_and_diff_come_from_git_and_journal(site: Site) -> None:
    order_id = await site.submit(workflow_type="agent_workflow_plan_build", script=PLAN_BUILD)
    await site.until(order_id, "completed")
    record, progress, history = await inspect.phase_history(site.context, order_id, LOCAL_OPERATOR)
    assert record.current_phase == "completed"
    assert (progress.commit_count, progress.files_changed, progress.lines_added) == (2, 2, 2)
    assert [(span.phase, span.commits) for span in history] == [
        ("planning", 1),
        ("implementing", 1),
    ]
    assert all(span.completed_at_ms is not None for span in history)
    diff = await inspect.diff(site.context, order_id, LOCAL_OPERATOR)
    assert b"+made" in diff.text and not diff.truncated
    review = inspect.review(site.context, record)
    assert review is not None and review.proposal.evidence["commits"]
    # Nothing of it is stored: the same after the sandbox is gone and the house was restarted.
    await site.restart()
    assert (await inspect.phase_history(site.context, order_id, LOCAL_OPERATOR))[1] == progress


async def test_an_order_that_has_not_begun_has_no_progress(site: Site) -> None:
    order_id = await site.submit(workflow_source=GATED)
    shown = await inspect.show(site.context, order_id, LOCAL_OPERATOR)
    assert shown.progress.commit_count == 0
    assert (await inspect.diff(site.context, order_id, LOCAL_OPERATOR)).text == b""
    stranger = Caller(name="x", role="admin", repositories=())
    with pytest.raises(NotFound):
        await inspect.show(site.context, order_id, stranger)
    assert (await inspect.page(site.context, stranger, OrderFilter())).total_count == 0
    with pytest.raises(NotFound):
        await inspect.artifact(site.context, order_id, "0" * 64, LOCAL_OPERATOR)


@pytest.mark.fault("A22")
async def test_a_running_order_keeps_its_plan(site: Site) -> None:
    folder = site.home / "workflows"
    folder.mkdir()
    flow = """
name: mine
tasks:
  ask: {approval: Go on?}
  say: {needs: [ask], uses: sandbox.exec, with: {argv: [echo, %s]}}
"""
    (folder / "mine.yaml").write_text(flow % "one")
    first = await site.submit(workflow_type="mine")
    await site.until(first, "waiting")
    (folder / "mine.yaml").write_text(flow % "two")
    second = await site.submit(workflow_type="mine")
    await site.restart()
    for order_id, said in ((first, "one\n"), (second, "two\n")):
        await steer.override(site.context, order_id, LOCAL_OPERATOR, path="ask", action="succeed")
        await site.until(order_id, "completed")
        assert (await site.task(order_id, "say"))["outputs"]["stdout"] == said
    versions = await site.context.store.versions.history("mine")
    assert [version.version for version in versions] == [2, 1]
    assert (await site.show(first)).workflow_version != (await site.show(second)).workflow_version
