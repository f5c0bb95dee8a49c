"""What is between two orders: a user each, folders that all may write, sockets. Each with a control
that shows the attack succeed without the protection."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from tests.sandbox_manager.conftest import LocalBench

from agent_work_orders.clock import SystemClock
from agent_work_orders.errors import Environmental, Refused
from agent_work_orders.repositories.git import Git
from agent_work_orders.repositories.mirrors import Mirrors
from agent_work_orders.repositories.url import parse
from agent_work_orders.sandbox_manager.local.agent_user import AgentUsers, agent_users
from agent_work_orders.sandbox_manager.local.sandboxes import LocalSandboxes
from agent_work_orders.sandbox_manager.sandbox import Sandbox
from agent_work_orders.testing.conformance.sandbox import committed, order, ready, shell

ROOT = os.geteuid() == 0
ONE = AgentUsers(first=64_500, last=64_500)


@pytest.fixture
async def house(folder: Path, source: Path) -> AsyncIterator[Callable[..., Any]]:
    """Further data directories on this machine, in one of the modes."""
    made: list[LocalBench] = []

    async def make(
        name: str, mode: Literal["auto", "off"] = "auto", users: AgentUsers | None = None
    ) -> LocalBench:
        mirrors = Mirrors(folder / name / "mirrors", Git())
        mirror = await mirrors.ensure(parse(str(source)))
        bench = LocalBench(folder, "git_worktree", mirror)
        bench.home = folder / name
        bench.sandboxes = LocalSandboxes(
            folder / name, mirrors, SystemClock(), users=users, namespaces=mode
        )
        await bench.sandboxes.start()
        made.append(bench)
        return bench

    yield make
    for bench in made:
        bench.sandboxes.close()


async def attacked(victim: LocalBench, attacker: LocalBench) -> bytes:
    """What the victim publishes of a file that an agent of another data directory wants to change
    in its live workspace."""
    theirs, evil = await ready(victim), await ready(attacker)
    repo = (await theirs.state()).workspace
    await theirs.write_file("work", b"mine\n")
    await evil.execute(
        ["/bin/sh", "-c", f"cat {repo}/work; echo evil >> {repo}/work; rm -rf {repo}/../home"]
    )
    sha = await committed(theirs)
    assert sha is not None
    return await victim.mirror.show(sha, "work")


@pytest.mark.fault("N5")
@pytest.mark.parametrize("mode", ["auto", "off"])
async def test_an_agent_of_another_data_directory_is_denied(house: Any, mode: str) -> None:
    assert ROOT, "only root can give each order a user: run as root"
    assert await attacked(await house("one", mode), await house("two", mode)) == b"mine\n"


@pytest.mark.fault("N5")
async def test_with_one_user_for_all_it_would_not_be(house: Any) -> None:
    one, two = await house("one", "off", ONE), await house("two", "off", ONE)
    assert await attacked(one, two) == b"mine\nevil\n"
    assert (
        "Other data directories here which use the same user" in one.sandboxes.protection().detail
    )


@asynccontextmanager
async def listening(sandbox: Sandbox) -> AsyncIterator[None]:
    """A program of the order that answers at an abstract socket."""
    heard = asyncio.Event()
    program = (
        "import socket; s = socket.socket(socket.AF_UNIX); s.bind('\\0awo-test-separation')\n"
        "s.listen(); print('ready', flush=True)\n"
        "while True: s.accept()[0].send(b'heard')"
    )
    task = asyncio.create_task(
        sandbox.execute(["python3", "-c", program], on_output=lambda *_: heard.set())
    )
    waiting = asyncio.create_task(heard.wait())
    await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
    assert heard.is_set(), task
    yield
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


SPOKEN = """
import socket
try:
    s = socket.socket(socket.AF_UNIX)
    s.connect('\\0awo-test-separation')
    print(s.recv(5))
except OSError as error:
    print(error)
"""
PLACES = ("/tmp", "/var/tmp", "/dev/shm")


@pytest.mark.fault("N4")
@pytest.mark.fault("N5")
@pytest.mark.parametrize("mode", ["auto", "off"])
async def test_folders_of_all_users_and_sockets(house: Any, mode: str) -> None:
    """With protection nothing is seen; `off` is the control."""
    bench = await house("one", mode)
    first, second = await ready(bench), await ready(bench)
    name = f"awo-test-{first.sandbox_identifier[-16:]}"
    paths = [f"{place}/{name}" for place in PLACES]
    try:
        await shell(first, "".join(f"echo canary > {path}; chmod 666 {path};" for path in paths))
        async with listening(first):
            seen = await second.execute(["cat", *paths])
            spoken = await second.execute(["python3", "-c", SPOKEN])
        if mode == "off":
            assert seen.stdout == b"canary\n" * 3 and b"heard" in spoken.stdout
            return
        assert seen.stdout == b"" and seen.stderr.count(b"No such file") == 3
        assert b"Operation not permitted" in spoken.stdout
        assert not any(os.path.exists(path) for path in paths)
        kept = await first.execute(["cat", paths[0], paths[1]])
        assert kept.stdout == b"canary\n" * 2, "an order keeps its own between executions"
    finally:
        for path in paths:
            if os.path.exists(path):
                os.unlink(path)


async def test_what_the_operator_named_in_tmp_stays(bench: Any, folder: Path) -> None:
    tools = folder / "tools"
    tools.mkdir()
    (tools / "beside").write_text("library\n")
    (tools / "stub").write_text(f"#!/bin/sh\ncat {tools}/beside; echo x > {tools}/beside\n")
    (tools / "stub").chmod(0o755)
    sandbox = await ready(bench)
    for argv, env in (
        ([str(tools / "stub")], {}),
        (["stub"], {"PATH": f"{tools}:/usr/bin:/bin"}),
        (["/bin/sh", str(tools / "stub")], {}),
        (["/bin/sh", "-c", '"$STUB"'], {"STUB": str(tools / "stub")}),
        (["/bin/sh", "-c", f"true; '{tools}/stub'"], {}),
    ):
        done = await sandbox.execute(argv, env=env)
        assert done.stdout == b"library\n" and b"Permission denied" in done.stderr, done
    unnamed = await sandbox.execute(["/bin/sh", "-c", f"cd /tmp; ls {folder.name}"])
    assert b"tools" not in unnamed.stdout
    assert (tools / "beside").read_text() == "library\n"


async def test_named_files_and_links_in_tmp(bench: Any, folder: Path) -> None:
    """A link is followed by the program itself, never by the host: here to a file that others may
    read, in a folder that they may not enter."""
    closed = folder / "closed"
    closed.mkdir(mode=0o700)
    (closed / "secret").write_text("secret\n")
    file, link = Path(f"{folder}-file"), Path(f"{folder}-link")
    file.write_text("file\n")
    link.symlink_to(closed / "secret")
    try:
        sandbox = await ready(bench)
        done = await sandbox.execute(["cat", str(file), str(link)])
        assert done.stdout == b"file\n" and not done.success, done
        link.unlink()
        link.symlink_to("/etc/hostname")
        again = await ready(bench)
        done = await again.execute(["readlink", str(link)])
        assert done.stdout == b"/etc/hostname\n", done
    finally:
        file.unlink()
        link.unlink()


async def test_what_lies_in_the_way_of_a_named_path_is_taken_away(bench: Any, folder: Path) -> None:
    (folder / "named").write_text("named\n")
    sandbox = await ready(bench)
    for number, obstacle in enumerate(("ln -s /", "touch")):
        await shell(sandbox, f"cd /tmp; mv {folder.name} {number}; {obstacle} {folder.name}")
        done = await sandbox.execute(["cat", str(folder / "named")])
        assert done.stdout == b"named\n", done


async def user_of(sandbox: Sandbox) -> int:
    return int((await sandbox.execute(["id", "-u"])).stdout)


async def test_an_order_keeps_its_user(house: Any, folder: Path) -> None:
    bench = await house("one")
    spec, other = order(bench), order(bench)
    sandbox = bench.sandboxes.open(spec)
    await sandbox.setup()
    await sandbox.write_file("kept", b"1")
    uid = await user_of(sandbox)
    assert (await sandbox.execute(["id", "-G"])).stdout.split() == [str(uid).encode()]
    (record,) = await bench.sandboxes.records()
    assert record.connection["uid"] == uid
    bench.sandboxes.close()
    again = await house("one")
    await again.sandboxes.sweep()
    same, others = again.sandboxes.open(spec), again.sandboxes.open(other)
    await same.setup()
    await others.setup()
    assert await user_of(same) == uid and await same.read_file("kept") == b"1"
    assert (await user_of(others) != uid) == ROOT
    top = folder / "one" / "workspaces" / spec.order_id
    assert top.stat().st_mode & 0o777 == 0o710
    assert {(top / name).stat().st_mode & 0o777 for name in ("repo", "home", "tmp")} == {0o700}


async def test_a_copied_data_directory_gets_other_users(house: Any, folder: Path) -> None:
    bench = await house("one")
    spec = order(bench)
    sandbox = bench.sandboxes.open(spec)
    await sandbox.setup()
    uid = await user_of(sandbox)
    subprocess.run(["cp", "-a", folder / "one", folder / "two"], check=True)
    copied = (await house("two")).sandboxes.open(spec)
    await copied.setup()
    assert await user_of(sandbox) == uid and await user_of(copied) != uid
    shutil.rmtree(folder / "one")
    third = await house("one")
    assert await user_of(await ready(third)) != await user_of(copied)


async def test_nothing_runs_as_root_whoever_owns_the_files(bench: Any) -> None:
    spec = order(bench)
    sandbox = bench.sandboxes.open(spec)
    await sandbox.setup()
    for path in (bench.home / "workspaces" / spec.order_id).rglob("*"):
        os.chown(path, 0, 0, follow_symlinks=False)
    with pytest.raises(Environmental) as lost:
        await sandbox.execute(["id"])
    assert lost.value.code == "sandbox_lost"
    await sandbox.setup()
    assert await user_of(sandbox) != 0


async def test_processes_without_a_tag_are_found_by_their_user(house: Any) -> None:
    bench = await house("one", "off")
    sandbox = await ready(bench)
    uid = await user_of(sandbox)
    await ready(bench)
    escaped = [
        subprocess.Popen(["sleep", "600"], user=uid, group=uid, extra_groups=[], env={})
        for _ in range(2)
    ]
    bystander = subprocess.Popen(["sleep", "600"], env={})
    await sandbox.cleanup()
    assert [process.wait(10) for process in escaped] == [-9, -9]
    assert bystander.poll() is None
    bystander.kill()
    bystander.wait()


def test_a_container_without_the_users_is_told() -> None:
    program = (
        "import sys\n"
        "from agent_work_orders.sandbox_manager.local.agent_user import agent_users\n"
        "try: agent_users(sys.argv[1])\n"
        "except Exception as e: print(e.code, e.message, e.hint)"
    )
    for given in ("", "5000-6000"):
        done = subprocess.run(
            ["unshare", "-r", sys.executable, "-c", program, given],
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.startswith("sandbox_setup_failed") and "AWO_AGENT_UID" in done.stdout


def test_a_container_with_few_users_gets_a_smaller_range() -> None:
    program = (
        "import ctypes, os, sys\n"
        "from agent_work_orders.sandbox_manager.local.agent_user import agent_users\n"
        "assert ctypes.CDLL(None).unshare(0x10000000) == 0\n"
        "print('apart', flush=True); sys.stdin.readline()\n"
        "print(agent_users().words())"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdin is not None and child.stdout is not None
        assert child.stdout.readline() == "apart\n"
        for kind in ("uid", "gid"):
            Path(f"/proc/{child.pid}/{kind}_map").write_text("0 0 65536")
        said, _ = child.communicate("go\n")
    assert said == "uids 40000 to 59999\n"


def test_users_given_by_the_operator() -> None:
    if not ROOT:
        assert agent_users("5000-6000").first == os.geteuid()
        return
    assert agent_users() == AgentUsers(first=1_900_000_000, last=1_900_065_535)
    assert agent_users("0") == agent_users()
    assert agent_users("5000-6000") == AgentUsers(first=5000, last=6000)
    assert agent_users("64500") == ONE and ONE.shared


async def test_a_folder_to_start_in_is_reached_through_no_link(bench: Any, folder: Path) -> None:
    (folder / "outside").mkdir()
    sandbox = await ready(bench)
    await shell(sandbox, f"mkdir -p in/deep; ln -s {folder}/outside out; ln -s in/deep near")
    done = await sandbox.execute(["pwd"], cwd="in/deep")
    assert done.stdout.endswith(b"/repo/in/deep\n")
    for cwd in ("out", "near", "in/../out/x", "README.md"):
        with pytest.raises(Refused) as refused:
            await sandbox.execute(["pwd"], cwd=cwd)
        assert refused.value.code == "path_outside_workspace"
