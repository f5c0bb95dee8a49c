"""What no order needs is removed at the start; what cannot be removed is said."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from pathlib import Path

import pytest
import structlog
from site_bench import IDLE, Site

from agent_work_orders.bootstrap.duties import IDEMPOTENCY_KEEP_MS
from agent_work_orders.cli import checkup
from agent_work_orders.sandbox_manager.local import descriptor_trees
from agent_work_orders.security.roles import LOCAL_OPERATOR
from agent_work_orders.settings import load
from agent_work_orders.state_manager.sqlite.database import DATABASE_NAME
from agent_work_orders.work_orders import inspect


async def test_what_cannot_be_removed_is_logged_and_shown_by_doctor(
    site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    structlog.reset_defaults()  # to the standard output, whatever another test has set
    order_id = await site.submit()
    await site.until(order_id, "completed")
    stuck = site.home / "workspaces" / order_id
    await site.restart()  # what the order's end takes with it is gone now
    assert not stuck.exists()
    stuck.mkdir()
    remove = descriptor_trees.remove

    def refuse(folder: Path) -> None:
        if folder == stuck:
            raise PermissionError(folder)
        remove(folder)

    async def doctor() -> checkup.Finding:
        settings = load({}, home=site.home)
        return next(one for one in await checkup.examine(settings) if one.check == "workspaces")

    with monkeypatch.context() as patched:
        patched.setattr(descriptor_trees, "remove", refuse)
        capsys.readouterr()
        await site.restart()
        identifier = f"git_worktree-{order_id}"
        assert site.context.sandboxes.unremoved == [identifier]
        [line] = [row for row in capsys.readouterr().out.splitlines() if "cleanup_failed" in row]
        assert identifier in line
        found = await doctor()
        assert found.status == "warning" and order_id in found.detail and found.hint
    await site.restart()
    assert site.context.sandboxes.unremoved == []
    assert (await doctor()).status == "ok"


@pytest.mark.fault("N7")
async def test_workspaces_of_lost_and_damaged_orders_are_kept(site: Site) -> None:
    lost, damaged = [await site.submit(script=IDLE) for _ in range(2)]
    for order_id in (lost, damaged):
        await site.until_task(order_id, "build", "running")
        async with asyncio.timeout(30):
            while not (site.home / "workspaces" / order_id / "repo/README.md").is_file():
                await asyncio.sleep(0.01)
    await site.stop()
    with sqlite3.connect(site.home / DATABASE_NAME) as connection:
        for table in ("events", "effects", "timers", "snapshots"):
            query = f"DELETE FROM {table} WHERE run = (SELECT run FROM runs WHERE run_id = ?)"
            connection.execute(query, (lost,))
        connection.execute("DELETE FROM runs WHERE run_id = ?", (lost,))
        connection.execute("DELETE FROM orders WHERE agent_work_order_id = ?", (lost,))
        query = "UPDATE events SET body = x'00' WHERE run = (SELECT run FROM runs WHERE run_id = ?)"
        connection.execute(query, (damaged,))
    connection.close()
    for _ in range(2):
        await site.start()
        assert not (site.home / "workspaces" / lost).exists()
        assert (site.home / "lost" / "workspaces" / lost / "repo" / "README.md").is_file()
        assert (site.home / "workspaces" / damaged / "repo").is_dir()
        await site.stop()
    found = {one.check: one for one in await checkup.examine(load({}, home=site.home))}
    assert found["lost orders"].status == "warning" and lost in found["lost orders"].detail
    assert damaged in found["journal"].detail
    await site.start()


async def test_a_start_forgets_old_idempotency_keys(site: Site) -> None:
    now_ms = site.context.clock.now_ms()
    keys = site.context.store.idempotency
    for key, at_ms in (("old", now_ms - IDEMPOTENCY_KEEP_MS - 1), ("new", now_ms)):
        await keys.claim("ann", key, body_hash="h", order_id=f"wo-{key}", at_ms=at_ms)
    await site.restart()
    keys = site.context.store.idempotency
    assert await keys.claim("ann", "old", body_hash="h", order_id="wo-2", at_ms=now_ms) == "wo-2"
    assert await keys.claim("ann", "new", body_hash="h", order_id="wo-2", at_ms=now_ms) == "wo-new"


EDITED = """
name: edited
tasks:
  edit: {uses: sandbox.exec, with: {argv: [sh, -c, "echo edited >> README.md"]}}
  ask:
    needs: [edit]
    approval: {message: Go on?}
    uses: agent.prompt
    with: {prompt: Do it}
"""


@pytest.mark.parametrize("kept", [True, False])
async def test_an_expired_sandbox_goes_only_when_its_files_are_kept(site: Site, kept: bool) -> None:
    order_id = await site.submit(workflow_type=None, workflow_source=EDITED)
    await site.until(order_id, "waiting")
    await site.stop()
    entry = site.home / "sandboxes" / f"{order_id}.json"
    known = json.loads(entry.read_text())
    known["record"]["expires_at_ms"] = 1
    entry.write_text(json.dumps(known))
    workspace = site.home / "workspaces" / order_id
    [mirror] = (site.home / "mirrors").glob("*.git")
    if not kept:
        mirror.rename(mirror.with_suffix(".away"))
    await site.start()
    assert workspace.exists() is not kept
    if kept:
        made, _ = await inspect.patch(site.context, order_id, LOCAL_OPERATOR)
        assert b"+edited" in made.text
    else:
        assert (workspace / "repo/README.md").read_text() == "hello\nedited\n"
