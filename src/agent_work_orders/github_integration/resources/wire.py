"""What we read of GitHub's answers: only these fields, with these types.

An answer of another shape is not an answer: for a read `github_unreachable`, for a write
`github_answer_lost`, because what was sent may have been done.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from agent_work_orders.errors import Transient, Unanswered
from agent_work_orders.github_integration import forge


class User(msgspec.Struct, frozen=True):
    login: str = ""


class Named(msgspec.Struct, frozen=True):
    name: str = ""


class Owned(msgspec.Struct, frozen=True):
    full_name: str = ""


class Side(msgspec.Struct, frozen=True):
    ref: str
    sha: str
    repo: Owned | None = None


class Pull(msgspec.Struct, frozen=True):
    number: int
    title: str
    html_url: str
    state: str
    head: Side
    base: Side
    node_id: str = ""
    user: User | None = None
    body: str | None = None
    draft: bool = False
    merged_at: str | None = None
    merge_commit_sha: str | None = None

    def as_pull_request(self) -> forge.PullRequest:
        state = self.state
        if self.merged_at is not None:
            state = "merged"
        elif state == "open" and self.draft:
            state = "draft"
        home = self.base.repo.full_name if self.base.repo else ""
        # The repository of a head is gone when the fork was deleted.
        head_home = self.head.repo.full_name if self.head.repo else ""
        return forge.PullRequest(
            number=self.number,
            title=self.title,
            url=self.html_url,
            head_branch=self.head.ref,
            base_branch=self.base.ref,
            head_sha=self.head.sha,
            state=state,
            node_id=self.node_id,
            author=login(self.user),
            from_fork=head_home != home,
            body=self.body or "",
        )


class Issue(msgspec.Struct, frozen=True):
    number: int
    title: str
    state: str
    html_url: str
    user: User | None = None
    body: str | None = None
    labels: list[Named | str] = []
    pull_request: dict[str, Any] | None = None

    def as_issue(self) -> forge.Issue:
        names = [one if isinstance(one, str) else one.name for one in self.labels]
        return forge.Issue(
            number=self.number,
            title=self.title,
            body=self.body or "",
            author=login(self.user),
            state=self.state,
            labels=tuple(names),
            url=self.html_url,
            is_pull_request=self.pull_request is not None,
        )


class Comment(msgspec.Struct, frozen=True):
    id: int
    html_url: str
    user: User | None = None
    body: str | None = None

    def as_comment(self) -> forge.Comment:
        return forge.Comment(
            comment_id=self.id, author=login(self.user), body=self.body or "", url=self.html_url
        )


class App(msgspec.Struct, frozen=True):
    slug: str | None = None


class Output(msgspec.Struct, frozen=True):
    annotations_count: int = 0


class CheckRun(msgspec.Struct, frozen=True):
    id: int
    output: Output = Output()
    external_id: str | None = None
    app: App | None = None


class Status(msgspec.Struct, frozen=True):
    context: str
    state: str
    description: str | None = None
    target_url: str | None = None
    creator: User | None = None

    def says(self, wanted: dict[str, str]) -> bool:
        shown = (self.state, self.description or "", self.target_url or "")
        return shown == (wanted["state"], wanted["description"], wanted.get("target_url", ""))


class Review(msgspec.Struct, frozen=True):
    id: int
    user: User | None = None
    body: str | None = None
    state: str = ""


class File(msgspec.Struct, frozen=True):
    filename: str
    status: str
    additions: int
    deletions: int
    patch: str | None = None

    def as_changed_file(self) -> forge.ChangedFile:
        return forge.ChangedFile(
            path=self.filename,
            status=self.status,
            additions=self.additions,
            deletions=self.deletions,
            patch=self.patch or "",
        )


class Facts(msgspec.Struct, frozen=True):
    id: int
    full_name: str
    default_branch: str
    private: bool
    archived: bool = False
    fork: bool = False
    permissions: dict[str, bool] = {}

    def as_repository_facts(self) -> forge.RepositoryFacts:
        return forge.RepositoryFacts(
            repository_id=self.id,
            full_name=self.full_name,
            default_branch=self.default_branch,
            private=self.private,
            archived=self.archived,
            fork=self.fork,
            permissions=self.permissions,
        )


class Content(msgspec.Struct, frozen=True):
    type: str
    size: int
    content: str = ""
    encoding: str = ""


class Role(msgspec.Struct, frozen=True):
    permission: str
    role_name: str = ""


class Merged(msgspec.Struct, frozen=True):
    sha: str
    merged: bool


class Notes(msgspec.Struct, frozen=True):
    body: str


T = TypeVar("T")


def login(user: User | None) -> str:
    """Who wrote it; a deleted account is the ghost."""
    return user.login if user is not None else "ghost"


def read(raw: Any, kind: type[T]) -> T:
    """The answer to a read."""
    try:
        return msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        raise Transient(
            "github_unreachable",
            f"GitHub answered something unexpected: {error}",
            hint="It is asked again; a proxy in between may answer in its place.",
        ) from error


def written(raw: Any, kind: type[T]) -> T:
    """The answer to a write."""
    try:
        return msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        raise Unanswered(
            "github_answer_lost",
            f"GitHub's answer to a write is not what it should be: {error}",
            hint="It may have been done: GitHub is read before it is tried again.",
        ) from error
