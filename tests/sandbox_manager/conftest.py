"""A real repository, a real mirror and a real factory, below a folder that agents may enter."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from agent_work_orders.clock import SystemClock
from agent_work_orders.repositories.git import Git
from agent_work_orders.repositories.mirror import Mirror
from agent_work_orders.repositories.mirrors import Mirrors
from agent_work_orders.repositories.url import parse
from agent_work_orders.sandbox_manager.bubblewrap.sandboxes import BoxedSandboxes
from agent_work_orders.sandbox_manager.container.configuration import HOME_LABEL
from agent_work_orders.sandbox_manager.container.containers import (
    ContainerOptions,
    container_places,
)
from agent_work_orders.sandbox_manager.container.engine import Engine
from agent_work_orders.sandbox_manager.sandbox import SandboxType

sys.path.append(str(Path(__file__).parent))

import podman


def git(folder: Path, *arguments: str) -> str:
    env = {
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Ann",
        "GIT_AUTHOR_EMAIL": "ann@example.invalid",
        "GIT_COMMITTER_NAME": "Ann",
        "GIT_COMMITTER_EMAIL": "ann@example.invalid",
    }
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=env, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def make_source(folder: Path) -> str:
    """The repository that the sandbox contract expects; its base commit."""
    folder.mkdir()
    git(folder, "init", "--quiet", "-b", "main")
    (folder / "README.md").write_text("hello\n")
    (folder / "run.sh").write_text("#!/bin/sh\necho ran\n")
    (folder / "run.sh").chmod(0o755)
    (folder / ".gitignore").write_text("*.ignored\n")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "Begin")
    return git(folder, "rev-parse", "HEAD")


class LocalBench:
    """A `Bench` of the conformance suite on the local types."""

    def __init__(
        self,
        folder: Path,
        sandbox_type: SandboxType,
        mirror: Mirror,
        containers: ContainerOptions | None = None,
    ) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.sandbox_type: SandboxType = sandbox_type
        self.mirror = mirror
        self.repository = mirror.key
        self.base_sha = mirror.resolve_base(None).sha
        mirrors = Mirrors(self.home / "mirrors", mirror.git)
        beside = container_places(containers)
        self.sandboxes = BoxedSandboxes(self.home, mirrors, SystemClock(), beside=beside)

    async def entries(self, sha: str) -> dict[str, tuple[str, bytes]]:
        found = {}
        out = await self.mirror.git.run(
            "list", ["ls-tree", "-r", "-z", "--full-tree", sha], repository=self.mirror.path
        )
        for record in out.stdout.split(b"\0")[:-1]:
            head, _, name = record.partition(b"\t")
            mode, _, object_id = head.decode().split(" ")
            blob = await self.mirror.git.run(
                "read", ["cat-file", "-p", object_id], repository=self.mirror.path, ok={0, 128}
            )
            found[name.decode("utf-8", "surrogateescape")] = (mode, blob.stdout)
        return found

    async def parents(self, sha: str) -> tuple[str, ...]:
        out = await self.mirror.git.run(
            "read", ["log", "--no-walk", "--format=%P", sha], repository=self.mirror.path
        )
        return tuple(out.stdout.decode().split())


@pytest.fixture
def folder() -> Iterator[Path]:
    """Like tmp_path, but with parents that another user may pass through."""
    made = Path(tempfile.mkdtemp(prefix="awo-test-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


@pytest.fixture
def sandbox_type() -> SandboxType:
    """Overridden by test classes that run on another kind."""
    return "git_worktree"


@pytest.fixture
def source(folder: Path) -> Path:
    """The origin; tests may change it before they use `bench`."""
    make_source(folder / "source")
    return folder / "source"


@pytest.fixture
def in_git() -> Callable[..., str]:
    return git


@pytest.fixture(scope="session")
def containers() -> Iterator[ContainerOptions]:
    """Of a real engine, which is started for the tests that ask for it."""
    archive = podman.archive()
    made = Path(tempfile.mkdtemp(prefix="awo-podman-"))
    try:
        with podman.service(made) as path:
            yield ContainerOptions(sockets=[path], archive=str(archive))
            assert asyncio.run(Engine(path).listed(HOME_LABEL)) == [], "a container was left"
    finally:
        shutil.rmtree(made, ignore_errors=True)


@pytest.fixture
async def bench(
    folder: Path, source: Path, sandbox_type: SandboxType, request: pytest.FixtureRequest
) -> AsyncIterator[LocalBench]:
    mirrors = Mirrors(folder / "home" / "mirrors", Git())
    mirror = await mirrors.ensure(parse(str(source)))
    options = request.getfixturevalue("containers") if sandbox_type == "container" else None
    made = LocalBench(folder, sandbox_type, mirror, options)
    yield made
    await made.sandboxes.reap(set(), 2**62)
    made.sandboxes.close()


@pytest.fixture
def new_bench(folder: Path, sandbox_type: SandboxType) -> Callable[[], Awaitable[LocalBench]]:
    """For tests that change the origin first."""

    async def make() -> LocalBench:
        mirrors = Mirrors(folder / "home" / "mirrors", Git())
        mirror = await mirrors.ensure(parse(str(folder / "source")))
        return LocalBench(folder, sandbox_type, mirror)

    return make
