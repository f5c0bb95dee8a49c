"""The process as its operator sees it: one at a time, a stop that hands over, a full disk."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import crash_checks
import pytest
from crash_driver import PATIENCE_S, Campaign


def wait_for(wanted: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not wanted():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.05)


@pytest.mark.fault("A9")
def test_a_second_process_is_refused_and_told_who_is_there(room: Path) -> None:
    campaign = Campaign(room, seed=6)
    first = campaign.start()
    pid = first.wait_ready()["pid"]
    second = campaign.start()
    told = second.wait_ready()
    assert told["refused"] == "data_directory_in_use"
    assert str(pid) in told["message"]
    assert second.end() == 3
    assert first.terminate() == 0
    first.end()


@pytest.mark.slow
@pytest.mark.fault("A20")
@pytest.mark.fault("G5")
def test_sigterm_in_a_long_step_hands_over(room: Path) -> None:
    campaign = Campaign(room, seed=7)
    (room / "slow").touch()
    child = campaign.start(CRASH_DRAIN_S="1")
    child.wait_ready()
    campaign.want(2)
    campaign.submit(child)
    mark = campaign.mark
    wait_for(
        lambda: (
            any("sleep" in line or "agent.sh" in line for line in crash_checks.processes(campaign))
            and child.ask("open")["health"]["running"] == 2
        ),
        f"two agents of {mark}",
    )
    assert child.terminate(30) == 0
    child.end()
    assert list(crash_checks.processes(campaign)) == []
    (room / "slow").unlink()
    assert crash_checks.broken(campaign, campaign.finish()) == []


@pytest.fixture
def small_disk(room: Path) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("mounting a small disk needs root: run the suite as root")
    home = room / "home"
    home.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(home)], check=True)
    yield home
    subprocess.run(["umount", "-l", str(home)], check=True)


@pytest.mark.slow
@pytest.mark.fault("A13")
def test_a_full_disk_refuses_new_orders_and_work_goes_on_after(
    room: Path, small_disk: Path
) -> None:
    campaign = Campaign(room, seed=8)
    child = campaign.start()
    child.wait_ready()
    campaign.want(3)
    campaign.submit(child)
    ballast = small_disk / "ballast"
    refusals: set[str] = set()

    def refused() -> bool:
        fill(ballast)
        told = child.ask("submit", order=campaign.order_of("never"))
        refusals.add(told.get("refused", ""))
        return "refused" in told

    wait_for(refused, "a refusal")
    assert refusals - {""} <= {"journal_full", "engine_unavailable"}
    ballast.unlink()
    wait_for(lambda: child.ask("open")["health"]["ok"], "the engine to go on")
    wait_for(lambda: child.ask("open")["open"] == 0, "all orders to end")
    assert child.terminate() == 0
    child.end()
    campaign.wishes = [wish for wish in campaign.wishes if wish.order]
    found = campaign.finish()
    told = [rule for rule in crash_checks.broken(campaign, found) if "nobody has asked" not in rule]
    assert told == []


def fill(path: Path) -> None:
    """Take what is left of the disk."""
    with path.open("ab", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            try:
                while True:
                    file.write(b"\0" * size)
            except OSError:
                continue


@pytest.mark.slow
@pytest.mark.fault("B4")
def test_a_process_that_was_frozen_goes_on_and_nobody_took_its_place(room: Path) -> None:
    campaign = Campaign(room, seed=10)
    frozen = campaign.start()
    frozen.wait_ready()
    campaign.want(3)
    campaign.submit(frozen)
    frozen.process.send_signal(signal.SIGSTOP)
    other = campaign.start()
    assert other.wait_ready()["refused"] == "data_directory_in_use"
    assert other.end() == 3
    frozen.process.send_signal(signal.SIGCONT)
    wait_for(lambda: frozen.ask("open")["open"] == 0, "all orders to end")
    assert frozen.terminate() == 0
    frozen.end()
    assert crash_checks.broken(campaign, campaign.finish()) == []


def test_a_draft_of_a_killed_process_is_gone_after_the_next_start(room: Path) -> None:
    campaign = Campaign(room, seed=11)
    draft = campaign.home / "reviews" / "some-repository" / "1" / "review.tmp"
    draft.parent.mkdir(parents=True)
    draft.write_text("half")
    child = campaign.start()
    child.wait_ready()
    assert child.terminate() == 0
    child.end()
    assert not draft.exists()
