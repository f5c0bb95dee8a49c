"""Where the data directory is: one for a repository, found from everywhere in it, outside of it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from agent_work_orders.settings import home as homes


def git(folder: Path, *args: str) -> None:
    who = (
        "-c",
        "user.name=T",
        "-c",
        "user.email=t@example.invalid",
        "-c",
        "init.defaultBranch=main",
    )
    subprocess.run(["git", "-C", str(folder), *who, *args], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    made = tmp_path / "basket"
    (made / "src" / "deep").mkdir(parents=True)
    git(made, "init", "-q")
    (made / "a.txt").write_text("a\n")
    git(made, "add", ".")
    git(made, "commit", "-q", "-m", "Start")
    return made


def environ(tmp_path: Path) -> dict[str, str]:
    return {"XDG_STATE_HOME": str(tmp_path / "state")}


def test_every_folder_and_worktree_of_a_repository_has_the_same_one(
    tmp_path: Path, repository: Path
) -> None:
    git(repository, "worktree", "add", "-q", str(tmp_path / "beside"))
    (tmp_path / "link").symlink_to(repository)
    places = [repository, repository / "src/deep", tmp_path / "beside", tmp_path / "link"]
    found = {homes.find(environ(tmp_path), one).home for one in places}
    [home] = found
    assert home.parent == tmp_path / "state" / "awo"
    assert home.name.startswith("basket-")
    other = tmp_path / "other" / "basket"
    other.mkdir(parents=True)
    git(other, "init", "-q")
    assert homes.find(environ(tmp_path), other).home != home


def test_a_submodule_has_its_own(tmp_path: Path, repository: Path) -> None:
    git(repository, "-c", "protocol.file.allow=always", "submodule", "add", str(repository), "sub")
    found = {homes.find(environ(tmp_path), one).home for one in (repository, repository / "sub")}
    assert len(found) == 2


def test_the_state_directory_is_the_users(tmp_path: Path, repository: Path) -> None:
    plain = {"HOME": str(tmp_path / "me"), "XDG_STATE_HOME": "not/absolute"}
    found = homes.find(plain, repository).home
    if os.geteuid() == 0:
        assert found.parent == Path("/var/lib/agent-work-orders/state")
    else:
        assert found.parent == tmp_path / "me/.local/state/awo"


def test_what_is_named_wins(tmp_path: Path, repository: Path) -> None:
    named = {**environ(tmp_path), "AWO_HOME": str(tmp_path / "named")}
    assert homes.find(named, repository).home == tmp_path / "named"


def test_an_old_one_in_the_repository_stays_in_use(tmp_path: Path, repository: Path) -> None:
    old = repository / ".awo"
    old.mkdir()
    (old / "config.yaml").write_text("# rules\n")
    # A person's folder of rules is no data directory.
    assert homes.find(environ(tmp_path), repository).home != old
    (old / "journal.db").touch()
    found = homes.find(environ(tmp_path), repository / "src/deep")
    assert (found.home, found.repository) == (old, repository)
    # Also one that was made in a folder of it.
    nearer = repository / "src" / ".awo"
    nearer.mkdir()
    (nearer / "owner.lock").touch()
    assert homes.find(environ(tmp_path), repository / "src/deep").home == nearer


def test_one_that_came_with_the_repository_is_not_believed(
    tmp_path: Path, repository: Path
) -> None:
    """Its journal could hold an open order with any command as agent."""
    theirs = repository / ".awo"
    theirs.mkdir()
    (theirs / "journal.db").write_bytes(b"anybody's")
    git(repository, "add", "-f", ".awo/journal.db")
    found = homes.find(environ(tmp_path), repository)
    assert found.home.parent == tmp_path / "state/awo"
    assert found.passed_over == theirs


def test_outside_of_repositories_it_is_the_folders_own(tmp_path: Path) -> None:
    folder = tmp_path / "plain" / "below"
    folder.mkdir(parents=True)
    (tmp_path / "plain" / ".awo").mkdir()
    (tmp_path / "plain" / ".awo" / "journal.db").touch()
    assert homes.find(environ(tmp_path), folder).home == folder / ".awo"


def test_a_moved_repository_finds_the_trace_of_its_old_one(
    tmp_path: Path, repository: Path
) -> None:
    before = homes.find(environ(tmp_path), repository).home
    before.mkdir(parents=True)
    (before / "journal.db").touch()
    assert homes.of_same_name(environ(tmp_path), repository) == []
    (tmp_path / "elsewhere").mkdir()
    moved = repository.rename(tmp_path / "elsewhere" / "basket")
    assert homes.of_same_name(environ(tmp_path), moved) == [before]
