"""One user, one order, on the whole machine, whatever happens to servers and folders."""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path

import pytest

from agent_work_orders.errors import Environmental
from agent_work_orders.sandbox_manager.local.agent_user import AgentUsers
from agent_work_orders.sandbox_manager.local.leases import Leases

USERS = AgentUsers(first=1_900_000_000, last=1_900_000_003)


@pytest.fixture
def leases(tmp_path: Path) -> Leases:
    if os.geteuid() != 0:
        pytest.fail("only root can give each order a user: run as root")
    return Leases(USERS, tmp_path / "uids")


def order(home: Path, name: str) -> Path:
    folder = home / "workspaces" / name
    folder.mkdir(parents=True)
    return folder


def held(leases: Leases, folder: Path, known: int | None = None) -> int:
    uid = leases.hold(folder, known)
    os.chown(folder, 0, uid)
    return uid


def test_no_user_is_given_twice_and_none_is_lost(leases: Leases, tmp_path: Path) -> None:
    folders = [order(tmp_path / home, name) for home in "ab" for name in ("wo-1", "wo-2")]
    uids = [held(leases, folder) for folder in folders]
    assert sorted(uids) == list(range(1_900_000_000, 1_900_000_004))
    assert [held(leases, folder) for folder in folders] == uids, "and each keeps its own"
    with pytest.raises(Environmental) as full:
        leases.hold(order(tmp_path / "c", "wo-3"))
    assert full.value.code == "sandbox_setup_failed" and "4 users" in full.value.message
    folders[0].rmdir()
    leases.release(folders[0], uids[0])
    assert held(leases, tmp_path / "c" / "workspaces" / "wo-3") == uids[0]


def test_a_deleted_data_directory_gives_its_users_back(leases: Leases, tmp_path: Path) -> None:
    for name in ("wo-1", "wo-2", "wo-3", "wo-4"):
        held(leases, order(tmp_path / "a", name))
    assert leases.sweep() == 0
    (tmp_path / "a").rename(tmp_path / "gone")
    assert held(leases, order(tmp_path / "b", "wo-5")) in USERS
    assert leases.sweep() == 3
    assert leases.held_below(tmp_path / "b" / "workspaces") != set()
    assert leases.held_below(tmp_path / "a" / "workspaces") == set()


def test_a_moved_or_copied_data_directory(leases: Leases, tmp_path: Path) -> None:
    uid = held(leases, order(tmp_path / "a", "wo-1"))
    copy = order(tmp_path / "copy", "wo-1")
    os.chown(copy, 0, uid)
    assert leases.hold(copy, uid) != uid, "the original has it"
    (tmp_path / "a").rename(tmp_path / "moved")
    moved = tmp_path / "moved" / "workspaces" / "wo-1"
    assert leases.hold(moved, uid) == uid
    assert not leases.has(copy, uid) and leases.has(moved, uid)


def test_lost_leases_are_taken_again(leases: Leases, tmp_path: Path) -> None:
    folder = order(tmp_path / "a", "wo-1")
    uid = held(leases, folder)
    (tmp_path / "uids" / str(uid)).unlink()
    assert leases.hold(folder, uid) == uid
    stolen = USERS.first if uid != USERS.first else USERS.last
    os.chown(folder, 0, stolen)
    assert leases.sweep() == 1, "a folder of another user holds nothing"


def _take(users: AgentUsers, folder: Path, home: Path, many: int) -> list[int]:
    leases = Leases(users, folder)
    return [held(leases, order(home, f"wo-{number}")) for number in range(many)]


def test_many_servers_at_once(leases: Leases, tmp_path: Path) -> None:
    users = AgentUsers(first=1_900_000_000, last=1_900_000_099)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        asked = [(users, tmp_path / "uids", tmp_path / f"home-{n}", 25) for n in range(4)]
        given = [uid for found in pool.starmap(_take, asked) for uid in found]
    assert len(set(given)) == len(given) == 100


def test_where_leases_cannot_be_kept_it_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Environmental) as refused:
        Leases(USERS, tmp_path / "file" / "uids").hold(tmp_path)
    assert "AWO_AGENT_UID" in (refused.value.hint or "")


def test_one_user_for_all_needs_no_lease(tmp_path: Path) -> None:
    one = Leases(AgentUsers(first=7, last=7), tmp_path / "uids")
    assert one.hold(tmp_path / "x") == one.hold(tmp_path / "y") == 7
    one.release(tmp_path / "x", 7)
    assert one.sweep() == 0 and not (tmp_path / "uids").exists()
