"""Locks of dead gits are cleared by whoever meets them; a living one's never is."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from agent_work_orders.errors import Transient
from agent_work_orders.repositories import stale_lock
from agent_work_orders.repositories.mirrors import Mirrors
from agent_work_orders.repositories.url import RepositoryUrl

pytestmark = pytest.mark.fault("E1")
HEAD = "refs/awo/orders/wo-aaaaaaaaaaaaaaaa/head"


@pytest.mark.parametrize("what", ["keep", "set_ref", "delete_refs"])
async def test_whoever_moves_a_reference_clears_it(
    mirrors: Mirrors, origin: RepositoryUrl, what: str
) -> None:
    mirror = await mirrors.ensure(origin)
    base = mirror.resolve_base(None).sha
    if what == "delete_refs":
        await mirror.keep(HEAD, base)
    lock = mirror.path / f"{HEAD}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.touch()
    if what == "keep":
        await mirror.keep(HEAD, base)
    elif what == "set_ref":
        await mirror.set_ref(HEAD, base, old=None)
    else:
        assert await mirror.delete_refs(HEAD) == 1
    assert await mirror.ref(HEAD) == (None if what == "delete_refs" else base)
    assert not lock.exists()


async def test_a_lock_that_a_living_git_may_own_stays(
    mirrors: Mirrors, origin: RepositoryUrl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stale_lock, "POLLS", 3)
    mirror = await mirrors.ensure(origin)
    base = mirror.resolve_base(None).sha
    lock = mirror.path / f"{HEAD}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    # It names the mirror as the host's git does, and was there before the lock.
    wait = [sys.executable, "-c", "input()", "git", "--git-dir", str(mirror.path)]
    with subprocess.Popen(wait, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as living:
        lock.touch()
        with pytest.raises(Transient) as locked:
            await mirror.keep(HEAD, base)
        assert locked.value.code == "git_locked"
        assert lock.exists()
        # One that came long after the lock was made cannot be its owner.
        an_hour_ago = lock.stat().st_mtime - 3_600
        os.utime(lock, (an_hour_ago, an_hour_ago))
        await mirror.keep(HEAD, base)
        assert not lock.exists()
        assert living.poll() is None
        living.communicate(b"\n")


async def test_only_locks_of_the_repository_are_touched(
    mirrors: Mirrors, origin: RepositoryUrl
) -> None:
    mirror = await mirrors.ensure(origin)
    outside = mirror.path.parent / "other.lock"
    outside.touch()
    assert not await stale_lock.clear(mirror.path, outside)
    assert not await stale_lock.clear(mirror.path, mirror.path / "HEAD")
    assert outside.exists() and (mirror.path / "HEAD").exists()
