"""The forge of a plain git repository: a review is a numbered folder under the data directory.

`<home>/reviews/<repository>/<number>/` holds `review.json` (the truth, written last) and
`summary.md`. A folder without `review.json` is a crash's leftover: its number stays used.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from agent_work_orders.errors import NotFound, Permanent
from agent_work_orders.github_integration.forge import Proposal, PullRequest, Repository, Texts

TITLE = "review.json"


class Review(msgspec.Struct, frozen=True, kw_only=True):
    key: str
    number: int
    state: str
    proposal: Proposal
    closed_because: str = ""


class LocalForge:
    name = "local"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        # Whether a branch is offered already, and offering it, is one step.
        self._opening = threading.Lock()

    async def sweep(self) -> None:
        """Remove the drafts of a killed process. Only for the directory's owner, at its start."""
        for draft in await asyncio.to_thread(lambda: list(self._folder.glob("*/*/*.tmp"))):
            draft.unlink(missing_ok=True)

    async def pull_request(self, repository: Repository, number: int) -> PullRequest:
        review = await asyncio.to_thread(self._known, repository.key, number)
        return self._pull_request(review)

    async def find_pull_request(
        self,
        repository: Repository,
        key: str,
        head_branch: str,
        *,
        besides: frozenset[int] = frozenset(),
        settled: bool = True,
    ) -> PullRequest | None:
        return await asyncio.to_thread(self._find, repository.key, key, head_branch, besides)

    async def open_pull_request(self, proposal: Proposal, key: str) -> PullRequest:
        return await asyncio.to_thread(self._open, proposal, key)

    def texts(self, proposal: Proposal, key: str) -> Texts:
        """Nobody else writes here."""
        return Texts(title="", body="")

    async def update_pull_request(
        self,
        number: int,
        proposal: Proposal,
        key: str,
        *,
        ours: Sequence[Texts],
        ready: bool = True,
    ) -> PullRequest:
        return await asyncio.to_thread(self._update, number, proposal, key)

    async def close_pull_request(self, repository: Repository, number: int, reason: str) -> None:
        await asyncio.to_thread(self._close, repository.key, number, reason)

    def reviews(self, repository: str) -> list[Review]:
        """All of a repository, by number. Blocking."""
        folder = self._folder / repository
        if not folder.is_dir():
            return []
        numbers = sorted(int(name) for name in os.listdir(folder) if name.isdigit())
        found = (self._read(repository, number) for number in numbers)
        return [review for review in found if review is not None]

    def _find(
        self, repository: str, key: str, head_branch: str, besides: frozenset[int]
    ) -> PullRequest | None:
        for review in reversed(self.reviews(repository)):
            if review.number in besides:
                continue
            if review.key == key and review.proposal.head_branch == head_branch:
                return self._pull_request(review)
        return None

    def _open(self, proposal: Proposal, key: str) -> PullRequest:
        if proposal.head_sha == proposal.base_sha:
            raise Permanent(
                "no_changes",
                f"{proposal.head_branch} has no commit that {proposal.base_branch} lacks",
                hint="Read the transcript; say more precisely what to change and retry.",
            )
        repository = proposal.repository.key
        with self._opening:
            for other in self.reviews(repository):
                if other.state == "closed" or not _same_branches(other.proposal, proposal):
                    continue
                raise Permanent(
                    "pull_request_exists",
                    f"{proposal.head_branch} is offered already, as review {other.number}",
                    hint="Close that one, and retry the order.",
                )
            number = self._take_number(repository)
            state = "draft" if proposal.draft else "open"
            return self._offer(Review(key=key, number=number, state=state, proposal=proposal))

    def _update(self, number: int, proposal: Proposal, key: str) -> PullRequest:
        before = self._known(proposal.repository.key, number)
        state = "open" if before.state == "draft" and not proposal.draft else before.state
        return self._offer(msgspec.structs.replace(before, key=key, state=state, proposal=proposal))

    def _offer(self, review: Review) -> PullRequest:
        proposal = review.proposal
        folder = self._folder / proposal.repository.key / str(review.number)
        summary = "\n\n".join([f"# {proposal.title}", *texts(proposal)]) + "\n"
        write(folder / "summary.md", summary.encode("utf-8", "replace"))
        write(folder / TITLE, msgspec.json.format(msgspec.json.encode(review)))
        return self._pull_request(review)

    def _close(self, repository: str, number: int, reason: str) -> None:
        review = self._known(repository, number)
        closed = msgspec.structs.replace(review, state="closed", closed_because=reason)
        folder = self._folder / repository / str(number)
        write(folder / TITLE, msgspec.json.format(msgspec.json.encode(closed)))

    def _known(self, repository: str, number: int) -> Review:
        review = self._read(repository, number)
        if review is None:
            raise NotFound(
                "review_unknown",
                f"{repository} has no review {number}",
                hint="`awo show ORDER` names the review of an order.",
            )
        return review

    def _take_number(self, repository: str) -> int:
        folder = self._folder / repository
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.mkdir(exist_ok=True, mode=0o700)
        number = 1 + max((int(name) for name in os.listdir(folder) if name.isdigit()), default=0)
        while True:
            try:
                (folder / str(number)).mkdir()
                return number
            except FileExistsError:
                number += 1

    def _read(self, repository: str, number: int) -> Review | None:
        try:
            content = (self._folder / repository / str(number) / TITLE).read_bytes()
        except FileNotFoundError:
            return None
        return _read_review(content)

    def _pull_request(self, review: Review) -> PullRequest:
        proposal = review.proposal
        return PullRequest(
            number=review.number,
            title=proposal.title,
            url=str(self._folder / proposal.repository.key / str(review.number) / "summary.md"),
            head_branch=proposal.head_branch,
            base_branch=proposal.base_branch,
            head_sha=proposal.head_sha,
            state=review.state,
            body="\n\n".join(texts(proposal)),
        )


def _same_branches(one: Proposal, other: Proposal) -> bool:
    return (one.head_branch, one.base_branch) == (other.head_branch, other.base_branch)


def _read_review(content: bytes) -> Review:
    """Also one of the time when a repository was its key alone."""
    stored: dict[str, Any] = msgspec.json.decode(content)
    repository = stored["proposal"]["repository"]
    if isinstance(repository, str):
        stored["proposal"]["repository"] = {"key": repository}
    return msgspec.convert(stored, Review)


def write(path: Path, content: bytes) -> None:
    """All of it or nothing, also after a power loss."""
    draft = path.with_suffix(".tmp")
    with draft.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def texts(proposal: Proposal) -> list[str]:
    """What reviewers read below the title."""
    return [text for text in (proposal.body, proposal.facts) if text]
