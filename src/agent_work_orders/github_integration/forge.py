"""The contract of a forge: where a finished branch is offered for review, and talked about.

`Forge` is what every repository has, a plain one too (local_forge.py). `Hub` is what a hosting
service adds: issues, comments, checks, reviews, permissions (github_forge.py).

Rules of every write:
- **Keyed.** It takes a `key` that says what the write *is* (never which attempt) and leaves it in
  the world: a hidden marker in a body, `external_id` of a check. `find_*` reads the world by it, so
  that a write whose answer was lost is adopted, never repeated. A key that others wrote into their
  own texts is not ours: `find_*` accepts only what our own account wrote.
- **Atomic** as far as one request is. What takes several (open + label) is several writes.
- **Not idempotent by itself** when it creates: call it through `once` (state_manager/once.py) with
  the matching `find_*`. Updates say what should be, and repeating them is harmless.
- **Bounded.** Texts are cut to the service's limits with a word about it, control characters and
  NUL are taken out; annotations go in batches. Everything read is data of strangers.

Errors of every call (codes in errors.py's sense):
- Transient `github_unreachable`: nothing was sent, or only reading; try again.
- Unknown `github_answer_lost`: sent, but no answer that can be trusted (timeout, reset, 5xx,
  truncated, not JSON). Only of writes: look before repeating.
- `QuotaHeld` (quota.py): not sent, because the quota or a limit says wait; carries until when.
- Environmental `github_credentials_refused`, `github_access_lost` (installation removed or
  suspended, repository gone or invisible), `github_permission_missing` (names the permission).
- Permanent `github_refused` with the service's own words for every other 4xx; `NotFound`
  `github_not_found` for a single thing that is not there while its repository is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

import msgspec

from agent_work_orders.github_integration.quota import Priority

Permission = Literal["none", "read", "triage", "write", "maintain", "admin"]
Conclusion = Literal[
    "success", "failure", "neutral", "cancelled", "skipped", "timed_out", "action_required"
]
Reaction = Literal["+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"]


class Repository(msgspec.Struct, frozen=True, kw_only=True):
    """Which repository. `key` names its mirror; `full_name` is `owner/name` on a hub, else ""."""

    key: str
    full_name: str = ""


class PullRequest(msgspec.Struct, frozen=True, kw_only=True):
    """`state`: draft, open, merged or closed."""

    number: int
    title: str
    url: str
    head_branch: str
    base_branch: str
    head_sha: str
    state: str
    node_id: str = ""
    author: str = ""
    from_fork: bool = False
    body: str = ""


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """What is offered. `evidence` is kept beside the body (test results, diff stat, warnings)."""

    order_id: str
    repository: Repository
    title: str
    body: str
    head_branch: str
    base_branch: str
    head_sha: str
    base_sha: str
    draft: bool = False
    facts: str = ""
    """What we know of it ourselves (tests, cost): stands after the body and is never cut."""
    evidence: dict[str, Any] = {}
    closes: int | None = None
    """The issue that merging it closes. Such words inside of `body` are a stranger's: they are
    made harmless."""


class Texts(msgspec.Struct, frozen=True, kw_only=True):
    """Fingerprints of a title and a body as we wrote them: whatever else stands there now is a
    person's, and stays."""

    title: str
    body: str


class Forge(Protocol):
    name: str

    async def pull_request(self, repository: Repository, number: int) -> PullRequest:
        """As it is now. NotFound `review_unknown`."""
        ...

    async def find_pull_request(
        self,
        repository: Repository,
        key: str,
        head_branch: str,
        *,
        besides: frozenset[int] = frozenset(),
        settled: bool = True,
    ) -> PullRequest | None:
        """The last one that our account opened from this branch, whatever its state, and although
        somebody took our marker out; not one that is marked with another key. Never guesses by
        title. Not `settled`: what was made this moment may be missed."""
        ...

    async def open_pull_request(self, proposal: Proposal, key: str) -> PullRequest:
        """Open it. Where one of the same branches is open, ours or not, it is Permanent
        `pull_request_exists`; nothing to offer is Permanent `no_changes`; a draft where there are
        none is Permanent `drafts_unsupported`."""
        ...

    def texts(self, proposal: Proposal, key: str) -> Texts:
        """Of what this proposal writes."""
        ...

    async def update_pull_request(
        self,
        number: int,
        proposal: Proposal,
        key: str,
        *,
        ours: Sequence[Texts],
        ready: bool = True,
    ) -> PullRequest:
        """Offer something else in its place: its title and its body where they are among `ours`,
        never its base; a draft becomes ready when the proposal is none (never the other way
        round), unless `ready` says that a person made it a draft. NotFound `review_unknown`."""
        ...

    async def close_pull_request(self, repository: Repository, number: int, reason: str) -> None:
        """Close it; closing a closed one is harmless. NotFound `review_unknown`."""
        ...


class Issue(msgspec.Struct, frozen=True, kw_only=True):
    number: int
    title: str
    body: str
    author: str
    state: str
    labels: tuple[str, ...]
    url: str
    is_pull_request: bool = False


class Comment(msgspec.Struct, frozen=True, kw_only=True):
    comment_id: int
    author: str
    body: str
    url: str


class Annotation(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    start_line: int
    end_line: int
    level: Literal["notice", "warning", "failure"]
    message: str
    title: str = ""


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """`conclusion` None: still running. `details_url` leads people to the order."""

    name: str
    head_sha: str
    title: str
    summary: str
    conclusion: Conclusion | None = None
    text: str = ""
    details_url: str = ""
    annotations: Sequence[Annotation] = ()


class LineComment(msgspec.Struct, frozen=True, kw_only=True):
    """On a line of the new side, or of the old one."""

    path: str
    line: int
    body: str
    side: Literal["RIGHT", "LEFT"] = "RIGHT"
    start_line: int | None = None


class Review(msgspec.Struct, frozen=True, kw_only=True):
    """`head_sha`: the commit that was read. Comments whose line is not in the diff are put into
    the body instead: one bad line must not lose the review."""

    head_sha: str
    event: Literal["APPROVE", "REQUEST_CHANGES", "COMMENT"]
    body: str
    comments: Sequence[LineComment] = ()


class ChangedFile(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    status: str
    additions: int
    deletions: int
    patch: str


class Thread(msgspec.Struct, frozen=True, kw_only=True):
    node_id: str
    path: str
    line: int | None
    resolved: bool
    ours: bool
    """Whether its first comment is by our account."""


class RepositoryFacts(msgspec.Struct, frozen=True, kw_only=True):
    """`repository_id` survives renames and transfers: pin to it, not to the name."""

    repository_id: int
    full_name: str
    default_branch: str
    private: bool
    archived: bool
    fork: bool
    permissions: dict[str, bool] = {}


class Hub(Forge, Protocol):
    def asking(self, priority: Priority) -> Hub:
        """The same for a person who waits, or for what nobody waits for: these go first and last
        when a limit is near (quota.py). As it is, it serves the work of orders."""
        ...

    async def need(self, repository: Repository, permissions: Mapping[str, str]) -> None:
        """Environmental `github_permission_missing` when our credential has not all of these
        there; `github_access_lost`, `github_credentials_refused` as every call."""
        ...

    # -- reading

    async def repository(self, repository: Repository) -> RepositoryFacts: ...

    async def issue(self, repository: Repository, number: int) -> Issue: ...

    async def files(self, repository: Repository, number: int) -> list[ChangedFile]:
        """All of a pull request, at most 3,000 (the service's own limit)."""
        ...

    async def file(self, repository: Repository, path: str, ref: str | None = None) -> bytes | None:
        """A file's content at a ref (default branch when None); None when it is not there.
        At most 1 MB."""
        ...

    async def permission(self, repository: Repository, login: str) -> Permission:
        """What a person may do; `none` for strangers. Never from a webhook's own claims."""
        ...

    async def our_login(self) -> str:
        """The account that our writes carry."""
        ...

    # -- conversation

    async def find_comment(
        self, repository: Repository, number: int, key: str
    ) -> Comment | None: ...

    async def add_comment(
        self, repository: Repository, number: int, body: str, key: str
    ) -> Comment: ...

    async def edit_comment(
        self, repository: Repository, comment_id: int, body: str, key: str
    ) -> Comment: ...

    async def react(
        self,
        repository: Repository,
        number: int,
        reaction: Reaction,
        comment_id: int | None = None,
        *,
        on_a_line: bool = False,
    ) -> None:
        """On the issue or pull request, or on one of its comments (`on_a_line`: one on a line of
        the change, whose ids are others). Repeating is harmless: the
        service keeps one of a kind for each account."""
        ...

    async def set_labels(
        self, repository: Repository, number: int, *, add: Sequence[str], remove: Sequence[str]
    ) -> None:
        """Repeating is harmless; removing what is not there too."""
        ...

    async def update_issue(
        self, repository: Repository, number: int, *, state: Literal["open", "closed"]
    ) -> None: ...

    # -- checks and statuses

    async def find_check(self, repository: Repository, head_sha: str, key: str) -> int | None: ...

    async def add_check(self, repository: Repository, check: Check, key: str) -> int:
        """Its id. Annotations beyond the first 50 follow in further requests; what of them is
        missing after a lost answer is added by `edit_check`."""
        ...

    async def edit_check(
        self, repository: Repository, check_id: int, check: Check, key: str
    ) -> None: ...

    async def set_status(
        self,
        repository: Repository,
        head_sha: str,
        *,
        context: str,
        state: Literal["error", "failure", "pending", "success"],
        description: str,
        target_url: str = "",
    ) -> None:
        """The latest of a context counts; one that stands already is not set again."""
        ...

    # -- reviews

    async def find_review(self, repository: Repository, number: int, key: str) -> int | None: ...

    async def add_review(
        self, repository: Repository, number: int, review: Review, key: str
    ) -> int: ...

    async def dismiss_reviews(self, repository: Repository, number: int, reason: str) -> int:
        """Those of ours that still request changes: how many they were. Never a person's."""
        ...

    async def threads(self, repository: Repository, number: int) -> list[Thread]: ...

    async def resolve_thread(self, repository: Repository, node_id: str) -> None: ...

    # -- pull requests, further

    async def merge(
        self,
        repository: Repository,
        number: int,
        *,
        head_sha: str,
        method: Literal["merge", "squash", "rebase"],
    ) -> str:
        """The merge commit. Merged already: its commit. Permanent `merge_refused` with the
        service's reason (protected, reviews missing, conflict), `merge_head_changed`; never
        bypasses a protection."""
        ...

    async def mark_ready(self, repository: Repository, number: int) -> PullRequest:
        """No draft any more. Repeating is harmless."""
        ...

    async def enable_auto_merge(
        self, repository: Repository, number: int, method: Literal["merge", "squash", "rebase"]
    ) -> None:
        """Merge when all that is required has passed. On already, or merged: harmless."""
        ...

    # -- administration

    async def dispatch(
        self, repository: Repository, workflow: str, ref: str, inputs: dict[str, str]
    ) -> None:
        """Start a workflow of the service. It has no key there: call it once, and after a lost
        answer ask a person rather than repeat."""
        ...

    async def protection(self, repository: Repository, branch: str) -> dict[str, Any] | None: ...

    async def protect(self, repository: Repository, branch: str, rules: dict[str, Any]) -> None: ...

    async def release_notes(
        self, repository: Repository, tag: str, previous_tag: str | None = None
    ) -> str: ...

    async def settings(self, repository: Repository, names: Sequence[str]) -> dict[str, Any]:
        """What they are. Permanent `github_setting_refused` for what is not ours to change."""
        ...

    async def change_settings(self, repository: Repository, changes: dict[str, Any]) -> None:
        """Repeating is harmless. Permanent `github_setting_refused`."""
        ...
