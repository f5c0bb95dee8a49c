"""What people look at: records, phases, diffs, logs, transcripts; also after crashes."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from pathlib import Path

import pytest
from site_bench import Site, git

from agent_work_orders.agent_executor import transcript
from agent_work_orders.agent_executor.agent import Entry
from agent_work_orders.errors import NotFound
from agent_work_orders.security.roles import LOCAL_OPERATOR, Caller
from agent_work_orders.state_manager.records import OrderFilter
from agent_work_orders.state_manager.sqlite.database import DATABASE_NAME
from agent_work_orders.work_orders import inspect, steer
from agent_work_orders.work_orders.transcripts import Transcripts

ORDER = "wo-aaaaaaaaaaaaaaaa"
GATED = "name: gated\ntasks:\n  ask: {approval: Go on?}\n"
PLAN_BUILD = """
commands:
  plan: [{write: {path: specs/plan.md, content: "# Plan"}}, {text: planned}]
  build: [{write: {path: made.txt, content: "made\\n"}}, {text: built}]
"""


async def test_progress_phases_and_diff_come_from_git_and_journal(site: Site) -> None:
    order_id = await site.submit(workflow_type="agent_workflow_plan_build", script=PLAN_BUILD)
    await site.until(order_id, "completed")
    record, progress, history = await inspect.phase_history(site.rooms, order_id, LOCAL_OPERATOR)
    assert record.current_phase == "completed"
    assert (progress.commit_count, progress.files_changed, progress.lines_added) == (2, 2, 2)
    assert [(span.phase, span.commits) for span in history] == [
        ("planning", 1),
        ("implementing", 1),
    ]
    assert all(span.completed_at_ms is not None for span in history)
    diff = await inspect.diff(site.rooms, order_id, LOCAL_OPERATOR)
    assert b"+made" in diff.text and not diff.truncated
    review = inspect.review(site.rooms, record)
    assert review is not None and review.proposal.evidence["commits"]
    # Nothing of it is stored: the same after the sandbox is gone and the house was restarted.
    await site.restart()
    assert (await inspect.phase_history(site.rooms, order_id, LOCAL_OPERATOR))[1] == progress


async def test_an_order_that_has_not_begun_has_no_progress(site: Site) -> None:
    order_id = await site.submit(workflow_source=GATED)
    shown = await inspect.show(site.rooms, order_id, LOCAL_OPERATOR)
    assert shown.progress.commit_count == 0
    assert (await inspect.diff(site.rooms, order_id, LOCAL_OPERATOR)).text == b""
    stranger = Caller(name="x", role="admin", repositories=())
    with pytest.raises(NotFound):
        await inspect.show(site.rooms, order_id, stranger)
    assert inspect.page(site.rooms, stranger, OrderFilter()).total_count == 0
    with pytest.raises(NotFound):
        inspect.artifact(site.rooms, order_id, "0" * 64, LOCAL_OPERATOR)


async def test_the_log_has_the_documented_names(site: Site) -> None:
    order_id = await site.submit(workflow_type="agent_workflow_plan_build", script=PLAN_BUILD)
    await site.until(order_id, "completed")
    async with asyncio.timeout(10):
        while True:
            page = inspect.logs(site.rooms, order_id, LOCAL_OPERATOR, limit=200)
            names = [entry.event for entry in page.log_entries]
            if "sandbox_cleanup_completed" in names:
                break
            await asyncio.sleep(0.02)
    for name in (
        "agent_work_order_created", "agent_work_order_started", "agent_work_order_completed",
        "workflow_phase_started", "workflow_phase_completed", "workflow_phase_transition",
        "agent_command_started", "agent_command_completed", "git_branch_created",
        "git_commit_created", "git_push_completed", "github_pull_request_created",
        "sandbox_created", "sandbox_cleanup_completed",
    ):  # fmt: skip
        assert name in names, name
    assert names.count("workflow_phase_started") == names.count("workflow_phase_completed") == 2
    [file] = (site.home / "logs" / "agent_work_orders").rglob(f"{order_id}.jsonl")
    async with asyncio.timeout(10):
        while len(lines := file.read_bytes().splitlines()) < len(names):
            await asyncio.sleep(0.02)
    assert sorted(json.loads(line)["event"] for line in lines) == sorted(names)


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
        await steer.override(site.rooms, order_id, LOCAL_OPERATOR, path="ask", action="succeed")
        await site.until(order_id, "completed")
        assert (await site.task(order_id, "say"))["outputs"]["stdout"] == said
    versions = site.rooms.versions.history("mine")
    assert [version.version for version in versions] == [2, 1]
    assert (await site.show(first)).workflow_version != (await site.show(second)).workflow_version


async def test_records_that_a_crash_lost_are_made_again(site: Site) -> None:
    waiting = await site.submit(workflow_source=GATED)
    await site.until(waiting, "waiting")
    done = await site.submit()
    await site.until(done, "completed")
    for _ in range(3):
        await site.restart()
    seq = site.rooms.records.get(waiting)
    await site._stack.aclose()
    with sqlite3.connect(site.home / DATABASE_NAME) as connection:
        connection.execute("UPDATE orders SET status = 'running', current_phase = NULL")
        connection.execute("DELETE FROM orders WHERE agent_work_order_id = ?", (waiting,))
        connection.execute("DELETE FROM approvals")
    await site.start()
    async with asyncio.timeout(10):
        while True:
            rows = [site.rooms.records.get(order_id) for order_id in (waiting, done)]
            if [row and row.status for row in rows] == ["waiting", "completed"]:
                break
            await asyncio.sleep(0.02)
    assert [one.state for one in site.rooms.approvals.of_order(waiting)] == ["asked"]
    assert seq is not None
    # Later events are still newer than what the restarts wrote.
    await steer.cancel(site.rooms, waiting, LOCAL_OPERATOR)
    async with asyncio.timeout(10):
        while (row := site.rooms.records.get(waiting)) is None or row.status != "cancelled":
            await asyncio.sleep(0.02)


@pytest.mark.fault("A15")
async def test_a_damaged_order_is_put_aside_and_the_house_opens(site: Site) -> None:
    broken = await site.submit(workflow_source=GATED)
    fine = await site.submit(workflow_source=GATED)
    for order_id in (broken, fine):
        await site.until(order_id, "waiting")
    await site._stack.aclose()
    with sqlite3.connect(site.home / DATABASE_NAME) as connection:
        [run] = connection.execute("SELECT run FROM runs WHERE run_id = ?", (broken,)).fetchone()
        connection.execute("UPDATE events SET at_ms = at_ms + 1 WHERE run = ?", (run,))
    await site.start()
    assert (await site.show(fine)).status == "waiting"
    async with asyncio.timeout(10):
        while (row := site.rooms.records.get(broken)) is None or row.error_code is None:
            await asyncio.sleep(0.02)
    assert (row.status, row.waiting_reason) == ("waiting", "quarantined")
    assert row.error_code == "run_quarantined" and row.error_hint


@pytest.mark.parametrize(
    "path", ["../x", "a/../b", "/etc/passwd", "..", "a\0b", "", "x" * 2000, "a b", "é"]
)
def test_no_path_leads_out_of_the_transcripts(tmp_path: Path, path: str) -> None:
    kept = Transcripts(tmp_path / "t")
    for order_id, task in ((ORDER, path), (path, "plan")):
        if task == "/etc/passwd":
            continue
        with pytest.raises(NotFound):
            kept.append(order_id, task, b"x\n")
        with pytest.raises(NotFound):
            kept.read(order_id, task)
    kept.append(ORDER, "/etc/passwd", b"x\n")
    assert [file.parent.name for file in tmp_path.rglob("*.jsonl")] == [ORDER]


def test_a_transcript_is_read_in_pages(tmp_path: Path) -> None:
    kept = Transcripts(tmp_path / "t")
    for number in range(5):
        kept.append(ORDER, "fix[2].build", transcript.encode(Entry(kind="text", text=str(number))))
    kept.append(ORDER, "x" * 900, b"{}\n")
    first = kept.read(ORDER, "fix[2].build", limit=2)
    assert [entry.text for _, entry in first] == ["0", "1"]
    rest = kept.read(ORDER, "fix[2].build", after=first[-1][0])
    assert [entry.text for _, entry in rest] == ["2", "3", "4"]
    kept.append(ORDER, "fix[2].build", b'{"half')
    assert kept.read(ORDER, "fix[2].build", after=rest[-1][0]) == []
    assert "fix[2].build" in kept.tasks(ORDER)
    assert (tmp_path / "t").stat().st_mode & 0o077 == 0


async def test_a_child_workflows_agent_has_its_own_transcript(site: Site) -> None:
    flow = """
name: parent
tasks:
  build: {uses: agent.prompt, with: {prompt: PARENT}}
  child: {needs: [build], workflow: agent_workflow_build}
"""
    order_id = await site.submit(workflow_source=flow)
    await site.until(order_id, "completed")
    assert sorted(site.rooms.transcripts.tasks(order_id)) == ["build", "child/build"]
    mine = "".join(entry.text for _, entry in site.rooms.transcripts.read(order_id, "build"))
    assert "PARENT" in mine and "Carry out the work" not in mine
    assert git(site.source, "branch", "--list", f"feat-{order_id}")
