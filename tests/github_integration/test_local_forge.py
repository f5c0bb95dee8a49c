"""Reviews of a plain repository: numbered folders that survive crashes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

from agent_work_orders.errors import NotFound
from agent_work_orders.github_integration.forge import Proposal, Repository
from agent_work_orders.github_integration.local_forge import LocalForge

REPOSITORY = Repository(key="repo-1")
PROPOSAL = Proposal(
    order_id="wo-aaaaaaaaaaaaaaaa",
    repository=REPOSITORY,
    title="T",
    body="B",
    head_branch="h",
    base_branch="main",
    head_sha="1" * 40,
    base_sha="2" * 40,
)


@pytest.fixture
def forge(tmp_path: Path) -> LocalForge:
    return LocalForge(tmp_path)


async def test_one_is_opened_found_updated_and_closed(forge: LocalForge, tmp_path: Path) -> None:
    proposal = msgspec.structs.replace(PROPOSAL, title="Title")
    assert await forge.find_pull_request(REPOSITORY, "k", "h") is None
    opened = await forge.open_pull_request(proposal, "k")
    assert (opened.number, opened.state) == (1, "open")
    assert await forge.find_pull_request(REPOSITORY, "k", "h") == opened
    assert await forge.find_pull_request(Repository(key="repo-2"), "k", "h") is None
    assert Path(opened.url).read_text() == "# Title\n\nB\n"
    newer = msgspec.structs.replace(proposal, head_sha="3" * 40, draft=True)
    updated = await forge.update_pull_request(1, newer, "k", ours=[])
    assert (updated.number, updated.head_sha, updated.state) == (1, "3" * 40, "open")
    for _ in range(2):
        await forge.close_pull_request(REPOSITORY, 1, "because")
    [review] = forge.reviews("repo-1")
    assert (review.state, review.closed_because) == ("closed", "because")


async def test_the_last_one_of_a_key_is_found(forge: LocalForge) -> None:
    proposal = msgspec.structs.replace(PROPOSAL, title="Title")
    await forge.open_pull_request(proposal, "k")
    await forge.close_pull_request(REPOSITORY, 1, "x")
    await forge.open_pull_request(proposal, "k")
    found = await forge.find_pull_request(REPOSITORY, "k", "h")
    assert found is not None and (found.number, found.state) == (2, "open")


async def test_numbers_are_given_once_even_at_once(forge: LocalForge) -> None:
    proposals = [msgspec.structs.replace(PROPOSAL, head_branch=f"h{n}") for n in range(20)]
    opened = await asyncio.gather(
        *(forge.open_pull_request(one, f"k-{one.head_branch}") for one in proposals)
    )
    assert sorted(one.number for one in opened) == list(range(1, 21))


async def test_what_a_crash_left_is_no_review_and_keeps_its_number(
    forge: LocalForge, tmp_path: Path
) -> None:
    left = tmp_path / "repo-1" / "1"
    left.mkdir(parents=True)
    (left / "summary.md").write_text("half")
    (left / "review.tmp").write_text("{")
    (tmp_path / "repo-1" / "stray").mkdir()
    assert forge.reviews("repo-1") == []
    opened = await forge.open_pull_request(msgspec.structs.replace(PROPOSAL, title="T"), "k")
    assert opened.number == 2


async def test_what_is_not_there_is_said(forge: LocalForge) -> None:
    with pytest.raises(NotFound) as missing:
        await forge.close_pull_request(REPOSITORY, 7, "x")
    assert missing.value.code == "review_unknown" and missing.value.hint
    with pytest.raises(NotFound):
        await forge.update_pull_request(7, PROPOSAL, "k", ours=[])


async def test_a_review_of_an_earlier_version_is_read(forge: LocalForge, tmp_path: Path) -> None:
    """There its repository was a text, the key alone."""
    await forge.open_pull_request(PROPOSAL, "k")
    stored = tmp_path / "repo-1" / "1" / "review.json"
    now = msgspec.json.decode(stored.read_bytes())
    now["proposal"]["repository"] = "repo-1"
    del now["proposal"]["closes"]
    stored.write_bytes(msgspec.json.encode(now))
    [review] = forge.reviews("repo-1")
    assert review.proposal == PROPOSAL
    assert (await forge.update_pull_request(1, PROPOSAL, "k", ours=[])).number == 1
