"""A commit that would bring too much is refused before anything large is read, with names."""

from __future__ import annotations

from typing import Any

import pytest

from agent_work_orders.errors import Permanent
from agent_work_orders.sandbox_manager import commit_size
from agent_work_orders.sandbox_manager.sandbox import Sandbox
from agent_work_orders.testing.conformance.sandbox import AT_MS, AUTHOR, ready, shell

LIMIT = 64 * 1024


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit_size, "LIMIT_BYTES", LIMIT)


async def commit(sandbox: Sandbox) -> str | None:
    return await sandbox.commit("feat: x\n", author=AUTHOR, at_ms=AT_MS)


async def refused(sandbox: Sandbox) -> Permanent:
    with pytest.raises(Permanent) as caught:
        await commit(sandbox)
    assert caught.value.code == "changes_too_large"
    return caught.value


@pytest.mark.usefixtures("small")
async def test_the_largest_files_are_named(bench: Any) -> None:
    sandbox = await ready(bench)
    await shell(
        sandbox,
        """
        head -c 30000 /dev/urandom > middling.bin
        mkdir 'odd dir' && head -c 50000 /dev/urandom > 'odd dir/large one.bin'
        echo small > small.txt
        """,
    )
    error = await refused(sandbox)
    assert error.context["files"] == ["odd dir/large one.bin", "middling.bin"]
    assert "odd dir/large one.bin (48.8 KiB)" in error.message


@pytest.mark.usefixtures("small")
async def test_it_is_told_before_anything_is_read(bench: Any) -> None:
    """A fifo's time would never come, and 20 GB of nothing take minutes."""
    sandbox = await ready(bench)
    await shell(sandbox, "truncate -s 20G sparse.img; mkfifo pipe; truncate -s 9G PKG-INFO")
    error = await refused(sandbox)
    assert error.context["files"] == ["sparse.img"]
    assert "20.0 GiB" in error.message
    left = await sandbox.execute(["sh", "-c", "find .git -name '*.pack' -size +1M; ls"])
    assert left.stdout.split() == [b"PKG-INFO", b"README.md", b"pipe", b"run.sh", b"sparse.img"]


@pytest.mark.usefixtures("small")
async def test_what_a_tracked_file_has_already_does_not_count(bench: Any) -> None:
    sandbox = await ready(bench)
    await shell(sandbox, "head -c 60000 /dev/urandom > data.bin")
    assert await commit(sandbox)
    await shell(sandbox, "echo more >> data.bin; head -c 50000 /dev/urandom > new.bin")
    assert await commit(sandbox), "the file's own 60,000 bytes are there already"
    await shell(sandbox, "head -c 70000 /dev/urandom >> data.bin")
    assert (await refused(sandbox)).context["files"] == ["data.bin"]


@pytest.mark.usefixtures("small")
async def test_many_small_files_count_together(bench: Any) -> None:
    sandbox = await ready(bench)
    await shell(sandbox, "mkdir d; for n in $(seq 200); do head -c 500 /dev/urandom > d/$n; done")
    error = await refused(sandbox)
    assert len(error.context["files"]) == commit_size.MOST_NAMED
    assert "97.7 KiB" in error.message


@pytest.mark.usefixtures("small")
async def test_what_is_not_committed_does_not_count(bench: Any) -> None:
    sandbox = await ready(bench)
    await shell(
        sandbox,
        """
        mkdir node_modules && head -c 90000 /dev/urandom > node_modules/a.js
        head -c 90000 /dev/urandom > big.ignored
        rm README.md && echo x > new.txt
        """,
    )
    assert await commit(sandbox)


@pytest.mark.usefixtures("small")
async def test_nested_repositories_and_odd_names(bench: Any) -> None:
    sandbox = await ready(bench)
    await shell(
        sandbox,
        """
        git init -q nested && head -c 90000 /dev/urandom > nested/large
        printf x > "$(printf 'new\\nline')"
        """,
    )
    assert (await refused(sandbox)).context["files"] == ["nested/large"]
    there = await sandbox.execute(["test", "-d", "nested/.git"])
    assert there.success, "it is put back"


def test_sizes_are_read_and_shown() -> None:
    found = commit_size.read(["large 2147483648", "2147483647 a b", "1 c"])
    assert found == commit_size.Larger(2**31, (("a b", 2**31 - 1), ("c", 1)))
    assert commit_size.read(["0" * 40 + " changed 0 clean"]) is None
    assert commit_size.read([]) is None
    assert commit_size.readable(999) == "999 bytes"
