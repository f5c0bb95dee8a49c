"""A server that is not root: everything works, as its own user."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import anyio
import certifi
import h11
import httpcore
import httpx
import idna
import immutables
import msgspec
import pytest
import sniffio
import typing_extensions

import agent_work_orders
from agent_work_orders.sandbox_manager.container.containers import ContainerOptions

NOBODY = 65_534
AT_THE_ENGINE = (httpx, httpcore, h11, anyio, sniffio, certifi, idna, typing_extensions)

PROGRAM = textwrap.dedent(
    """
    import asyncio, os, sys
    from pathlib import Path
    from agent_work_orders.clock import SystemClock
    from agent_work_orders.ids import new_order_id
    from agent_work_orders.repositories.git import Git
    from agent_work_orders.repositories.mirrors import Mirrors
    from agent_work_orders.repositories.push import push
    from agent_work_orders.repositories.url import parse
    from agent_work_orders.sandbox_manager.sandbox import Spec
    from agent_work_orders.sandbox_manager.local.sandboxes import LocalSandboxes

    def made(home, mirrors, mode, engine, archive):
        if not engine:
            return LocalSandboxes(Path(home), mirrors, SystemClock(), namespaces=mode)
        from agent_work_orders.sandbox_manager.bubblewrap.sandboxes import BoxedSandboxes
        from agent_work_orders.sandbox_manager.container.containers import ContainerOptions
        from agent_work_orders.sandbox_manager.container.containers import container_places
        beside = container_places(ContainerOptions(sockets=[engine], archive=archive))
        return BoxedSandboxes(Path(home), mirrors, SystemClock(), beside=beside)

    async def main(home, source, mode, engine="", archive=""):
        mirrors = Mirrors(Path(home) / "mirrors", Git())
        origin = parse(source)
        mirror = await mirrors.ensure(origin)
        base = mirror.resolve_base(None).sha
        factory = made(home, mirrors, mode, engine, archive)
        await factory.start()
        for kind in ("container",) if engine else ("git_worktree", "git_branch"):
            order_id = new_order_id()
            branch = "feat-" + order_id
            sandbox = factory.open(Spec(order_id=order_id, sandbox_type=kind, branch=branch,
                                        repository=origin.key, base_sha=base))
            await sandbox.setup()
            script = f"echo work > new; id -u; (setsid sleep 600 &); cat {home}/journal"
            done = await sandbox.execute(["/bin/sh", "-c", script])
            assert int(done.stdout.split()[0]) == os.geteuid(), done
            unprotected = factory.protection().detail.startswith("UNPROTECTED") and not engine
            assert (b"canary" in done.stdout) == unprotected, done
            sha = await sandbox.commit("work", author="A <a@b>", at_ms=0)
            assert sha and await mirror.show(sha, "new") == b"work\\n"
            await push(mirror, origin, branch, sha, expected=None)
            await sandbox.cleanup()
        print("unprotected" if unprotected else "protected")
        factory.close()

    asyncio.run(main(*sys.argv[1:]))
    """
)


def put_libraries(folder: Path) -> None:
    for module in (msgspec, immutables, *AT_THE_ENGINE):
        place = Path(str(module.__file__))
        if place.name == "__init__.py":
            shutil.copytree(place.parent, folder / module.__name__)
        else:
            shutil.copy(place, folder)


def interpreter(libraries: Path) -> str | None:
    """A Python that the other user can start and that can load our compiled dependencies."""
    for candidate in (sys.executable, f"/usr/bin/python3.{sys.version_info.minor}"):
        loading = "import msgspec, immutables, agent_work_orders"
        done = as_nobody([candidate, "-c", loading], libraries)
        if done is not None and done.returncode == 0:
            return candidate
    return None


def as_nobody(command: list[str], libraries: Path) -> subprocess.CompletedProcess[str] | None:
    source = str(Path(agent_work_orders.__file__).parent.parent)
    try:
        return subprocess.run(
            command,
            user=NOBODY if os.geteuid() == 0 else None,
            group=NOBODY if os.geteuid() == 0 else None,
            extra_groups=[] if os.geteuid() == 0 else None,
            cwd="/",
            env={
                "PATH": "/usr/bin:/bin",
                "PYTHONPATH": f"{source}:{libraries}",
                "PYTHONDONTWRITEBYTECODE": "1",
            },
            capture_output=True,
            text=True,
            timeout=60,
        )
    except (PermissionError, FileNotFoundError):
        return None


@pytest.fixture
def home(folder: Path, source: Path) -> Path:
    """The other user's, with the repository theirs too."""
    made = folder / "their-home"
    made.mkdir()
    (made / "journal").write_text("canary")
    if os.geteuid() == 0:
        for path in (made, made / "journal", source, *source.rglob("*")):
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    return made


def ran(folder: Path, *arguments: str) -> str:
    libraries = folder / "libraries"
    put_libraries(libraries)
    python = interpreter(libraries)
    if python is None:
        pytest.skip("no interpreter that another user may start: apt-get install python3")
    done = as_nobody([python, "-c", PROGRAM, *arguments], libraries)
    assert done is not None and done.returncode == 0, done
    return done.stdout


@pytest.mark.parametrize("mode", ["auto", "off"])
def test_an_unprivileged_server(folder: Path, home: Path, source: Path, mode: str) -> None:
    said = ran(folder, str(home), str(source), mode)
    if mode == "off":
        assert said == "unprotected\n"


@pytest.mark.slow
def test_an_unprivileged_server_with_an_engine(
    folder: Path, home: Path, source: Path, containers: ContainerOptions
) -> None:
    """Who may use the socket of an engine that is root's."""
    (engine,) = containers.sockets
    archive = shutil.copy(containers.archive, folder / "root.tar")
    for path in (Path(engine), Path(engine).parent):
        path.chmod(0o777)
    assert ran(folder, str(home), str(source), "auto", engine, str(archive)) == "protected\n"
