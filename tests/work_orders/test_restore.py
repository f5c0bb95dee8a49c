"""A backup holds the work itself, and what is missing stops an order by name."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from site_bench import Site, git

from agent_work_orders.bootstrap.store import store_at
from agent_work_orders.clock import SystemClock
from agent_work_orders.errors import AgentWorkOrdersError, Conflict, Environmental
from agent_work_orders.security.roles import LOCAL_OPERATOR
from agent_work_orders.state_manager.approvals import ApprovalRecord
from agent_work_orders.state_manager.sqlite import backup as copies
from agent_work_orders.work_orders import approvals, inspect, steer
from agent_work_orders.work_orders.backup import back_up
from agent_work_orders.work_orders.restore import restore

TWO_STEPS = """
name: two-steps
tasks:
  first:
    uses: agent.command
    with: {command: build}
  second:
    needs: [first]
    uses: agent.command
    with: {command: build}
    approval: {message: "Go on?", expires: 1h}
  offer:
    needs: [second]
    uses: forge.open_pull_request
    approval: {message: "Offer it?", expires: 1h}
"""
WRITES = """
default:
  - {append: {path: README.md, content: "one step\\n"}}
  - {text: done}
"""


async def asked(site: Site) -> str:
    """An order that has one commit, pushed nowhere, and waits for a person."""
    order_id = await site.submit(workflow_source=TWO_STEPS, script=WRITES)
    await site.until(order_id, "waiting")
    async with asyncio.timeout(30):
        while not await _asked(site, order_id, "second"):
            await asyncio.sleep(0.01)
    return order_id


async def approve(site: Site, order_id: str, path: str) -> None:
    await site.until_task(order_id, path, "awaiting_approval")
    async with asyncio.timeout(30):
        while not (found := await _asked(site, order_id, path)):
            await asyncio.sleep(0.01)
    for one in found:
        await approvals.decide(
                site.context, one.approval_id, LOCAL_OPERATOR, approved=True, comment="",
                subject_hash=one.subject_hash,
            )  # fmt: skip


async def _asked(site: Site, order_id: str, path: str) -> list[ApprovalRecord]:
    every = await approvals.of_order(site.context, order_id, LOCAL_OPERATOR)
    return [one for one in every if one.path == path and one.state == "asked"]


def published(site: Site, branch: str | None) -> list[str]:
    assert branch is not None
    return git(site.source, "log", "--format=%s", f"main..{branch}").splitlines()


async def moved(site: Site, backup: Path) -> None:
    """The house goes on elsewhere, with what the backup has."""
    await site.stop()
    site.home = site.folder / "elsewhere"
    told = await restore(backup, site.home, SystemClock(), store_at)
    assert told.lacking == {} and told.missing == []
    await site.start()


async def kept(site: Site, name: str = "backup") -> Path:
    target = site.folder / name
    await back_up(site.home, site.context.mirrors, SystemClock(), target)
    return target


@pytest.mark.fault("A18")
@pytest.mark.fault("N7")
async def test_a_restored_order_publishes_what_it_had_committed_before(site: Site) -> None:
    order_id = await asked(site)
    backup = await kept(site)
    await approve(site, order_id, "second")
    await site.until_task(order_id, "offer", "awaiting_approval")  # not in the backup's history
    await moved(site, backup)
    assert (await site.show(order_id)).warnings == []
    assert b"one step" in (await inspect.diff(site.context, order_id, LOCAL_OPERATOR)).text
    await approve(site, order_id, "second")
    await approve(site, order_id, "offer")
    record = await site.until(order_id, "completed")
    assert len(published(site, record.git_branch_name)) == 2


@pytest.mark.fault("N7")
@pytest.mark.parametrize("how", ["deleted", "restored without it"])
async def test_a_missing_parent_stops_the_order_by_name(site: Site, how: str) -> None:
    order_id = await asked(site)
    if how == "deleted":
        shutil.rmtree(site.home / "mirrors")
        (site.home / "mirrors").mkdir()
    else:
        copies.backup(site.home / "journal.db", site.folder / "copy.db")
        await site.stop()
        site.home = site.folder / "elsewhere"
        told = await restore(site.folder / "copy.db", site.home, SystemClock(), store_at)
        assert list(told.lacking) == [order_id] and "not in the stored copy" in str(told.lacking)
        await site.start()
    other = await site.submit()  # makes the mirror again, with what the origin has
    await site.until(other, "completed")
    shown = await site.show(order_id)
    assert any("is not in the stored copy" in one for one in shown.warnings)
    with pytest.raises(Environmental) as caught:
        await inspect.diff(site.context, order_id, LOCAL_OPERATOR)
    assert caught.value.code == "order_commits_missing" and "cancel" in caught.value.hint
    with pytest.raises(AgentWorkOrdersError) as refused:
        await approve(site, order_id, "second")
    assert refused.value.code == "order_commits_missing"
    assert order_id not in git(site.source, "branch")


FAILS_FIRST = """
commands:
  plan: [{append: {path: README.md, content: "one step\\n"}}, {text: done}]
  build:
    - {run: {argv: [test, -e, GO]}}
    - {append: {path: README.md, content: "another\\n"}}
    - {text: done}
"""


@pytest.mark.fault("N7")
async def test_a_retry_never_goes_on_from_the_base(site: Site) -> None:
    source = re.sub(" +approval: .*\n", "", TWO_STEPS).replace("build", "plan", 1)
    go = site.folder / "go"
    order_id = await site.submit(workflow_source=source, script=FAILS_FIRST.replace("GO", str(go)))
    await site.until(order_id, "failed")
    go.touch()
    mirror = next((site.home / "mirrors").glob("*.git"))
    mirror.rename(site.folder / "away.git")
    await site.until(await site.submit(), "completed")
    await steer.retry(site.context, order_id, LOCAL_OPERATOR)
    await site.until_task(order_id, "second", "failed")
    failed = await site.until(order_id, "failed")
    assert failed.error_code == "order_commits_missing"
    assert order_id not in git(site.source, "branch")
    refs = "+refs/awo/*:refs/awo/*"
    git(mirror, "--git-dir", str(mirror), "fetch", str(site.folder / "away.git"), refs)
    await steer.retry(site.context, order_id, LOCAL_OPERATOR)
    record = await site.until(order_id, "completed")
    assert len(published(site, record.git_branch_name)) == 2


@pytest.mark.fault("N7")
async def test_a_mirror_deleted_under_the_server_is_noticed_by_the_next_task(site: Site) -> None:
    source = re.sub(" +approval: .*\n", "", TWO_STEPS)
    slow = WRITES.replace("default:\n", "default:\n  - {delay: 0.5}\n")
    order_id = await site.submit(workflow_source=source, script=slow)
    await site.until_task(order_id, "first", "running")
    await steer.pause(site.context, order_id, LOCAL_OPERATOR)
    await site.until_task(order_id, "first", "succeeded")
    mirror = next((site.home / "mirrors").glob("*.git"))
    mirror.rename(site.folder / "away.git")
    await steer.resume(site.context, order_id, LOCAL_OPERATOR)
    record = await site.until(order_id, "failed", "waiting")
    assert record.error_code == "order_commits_missing"
    shutil.rmtree(mirror, ignore_errors=True)
    (site.folder / "away.git").rename(mirror)
    await steer.retry(site.context, order_id, LOCAL_OPERATOR)
    record = await site.until(order_id, "completed")
    assert len(published(site, record.git_branch_name)) == 2


@pytest.mark.fault("A18")
async def test_only_a_whole_backup_is_restored_and_only_into_nothing(site: Site) -> None:
    await asked(site)
    backup = await kept(site)
    with pytest.raises(Conflict) as used:
        await restore(backup, site.home, SystemClock(), store_at)
    assert used.value.code == "data_directory_in_use"
    full = site.folder / "full"
    full.mkdir()
    (full / "file").write_text("mine")
    with pytest.raises(Conflict) as taken:
        await restore(backup, full, SystemClock(), store_at)
    assert taken.value.code == "restore_target_in_use"
    body, fresh = backup.read_bytes(), site.folder / "fresh"
    for number, cut in enumerate((body[: len(body) // 2], b"", _flipped(body, len(body) // 3))):
        bad = site.folder / f"bad-{number}"
        bad.write_bytes(cut)
        with pytest.raises(Environmental) as caught:
            await restore(bad, fresh, SystemClock(), store_at)
        assert caught.value.code == "backup_damaged"
    assert not fresh.exists() and not list(site.folder.glob(".fresh*"))


def _flipped(body: bytes, at: int) -> bytes:
    return body[:at] + bytes([body[at] ^ 1]) + body[at + 1 :]


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from agent_work_orders.bootstrap.store import store_at
from agent_work_orders.clock import SystemClock
from agent_work_orders.work_orders import restore
left, real = int(sys.argv[3]), os.rename
def count(event, _):
    global left
    if event in ("open", "os.rename", "os.remove", "os.mkdir", "subprocess.Popen"):
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(count)
asyncio.run(restore.restore(Path(sys.argv[1]), Path(sys.argv[2]), SystemClock(), store_at))
"""


@pytest.mark.fault("A18")
async def test_a_kill_in_the_middle_of_a_restore_leaves_nothing(site: Site) -> None:
    order_id = await asked(site)
    backup = await kept(site)
    home = site.folder / "fresh"
    for calls in (40, 300, 420):
        done = await asyncio.create_subprocess_exec(
            sys.executable, "-c", KILLED, str(backup), str(home), str(calls),
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )  # fmt: skip
        if await done.wait() == 0:
            break
        assert done.returncode == -signal.SIGKILL
        assert not home.exists()
    if not home.exists():
        assert (await restore(backup, home, SystemClock(), store_at)).goes_on == [order_id]
    assert not list(site.folder.glob(".fresh*"))
    subprocess.run(["git", "-C", next((home / "mirrors").glob("*.git")), "fsck"], check=True)


@pytest.mark.slow
@pytest.mark.fault("A18")
@pytest.mark.fault("N7")
async def test_the_drill(folder: Path) -> None:
    """Backups under load, restored elsewhere: every order goes on, with all it had done."""
    site = Site(folder)
    site.environ = {"AWO_ORDERS_PER_REPOSITORY": "0"}
    async with site.opened():
        slow = WRITES.replace("default:\n", "default:\n  - {delay: 0.2}\n")
        made = [await site.submit(workflow_source=TWO_STEPS, script=slow) for _ in range(10)]
        for order_id in made[:4]:
            await site.until(order_id, "waiting")
        taken = [await kept(site, "backup-0")]
        for number, order_id in enumerate(made[:2], 1):
            await approve(site, order_id, "second")
            taken.append(await kept(site, f"backup-{number}"))
        await site.until_task(made[0], "offer", "awaiting_approval")
        taken.append(await kept(site, "backup-last"))
        for number, backup in enumerate(taken):
            await site.stop()
            site.home = folder / f"home-{number}"
            told = await restore(backup, site.home, SystemClock(), store_at)
            assert sorted(told.goes_on) == sorted(made) and told.lacking == {}
            await site.start()
        for order_id in made:
            for path in ("second", "offer"):
                if (await site.task(order_id, path))["state"] != "succeeded":
                    await approve_if_asked(site, order_id, path)
        for order_id in made:
            record = await site.until(order_id, "completed")
            assert len(published(site, record.git_branch_name)) == 2
            branch = str(record.git_branch_name)
            assert git(site.source, "show", f"{branch}:README.md").count("one step") == 2


async def approve_if_asked(site: Site, order_id: str, path: str) -> None:
    async with asyncio.timeout(60):
        while (state := (await site.task(order_id, path))["state"]) != "awaiting_approval":
            if state in ("running", "succeeded"):
                return
            await asyncio.sleep(0.02)
    await approve(site, order_id, path)
