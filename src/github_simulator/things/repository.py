"""A repository and what hangs directly on it: settings, roles, labels, protection, releases."""

from __future__ import annotations

import msgspec

from github_simulator.things.check import CheckRun, CheckSuite, Status
from github_simulator.things.conversation import Comment, Issue
from github_simulator.things.review import PullRequest, Review, ReviewComment


class Label(msgspec.Struct, kw_only=True):
    id: int
    name: str
    color: str = "ededed"
    description: str | None = None
    default: bool = False


class RequiredReviews(msgspec.Struct, frozen=True, kw_only=True):
    count: int = 1
    dismiss_stale: bool = False
    code_owners: bool = False
    last_push: bool = False


class RequiredChecks(msgspec.Struct, frozen=True, kw_only=True):
    """`apps` says which App must have made the check of a context; None is any."""

    strict: bool = False
    contexts: tuple[str, ...] = ()
    apps: dict[str, int | None] = {}


class Protection(msgspec.Struct, frozen=True, kw_only=True):
    checks: RequiredChecks | None = None
    reviews: RequiredReviews | None = None
    enforce_admins: bool = False
    # Logins of people and slugs of Apps who may push; None is everybody with write access.
    push_users: tuple[str, ...] | None = None
    push_apps: tuple[str, ...] = ()
    linear_history: bool = False
    force_pushes: bool = False
    deletions: bool = False
    conversation_resolution: bool = False
    block_creations: bool = False
    lock_branch: bool = False
    fork_syncing: bool = False


class Release(msgspec.Struct, kw_only=True):
    id: int
    tag: str
    target: str
    name: str | None
    body: str | None
    draft: bool
    prerelease: bool
    author_id: int
    created_ms: int
    published_ms: int | None


class Dispatch(msgspec.Struct, frozen=True, kw_only=True):
    """A workflow that was started by hand or by the API."""

    workflow: str
    ref: str
    inputs: dict[str, str]
    actor_id: int
    at_ms: int


class Repository(msgspec.Struct, kw_only=True):
    id: int
    owner_id: int
    name: str
    private: bool
    default_branch: str
    created_ms: int
    updated_ms: int
    pushed_ms: int
    description: str | None = None
    homepage: str | None = None
    parent_id: int | None = None
    archived: bool = False
    drafts: bool = True
    """Whether pull requests can be drafts; private repositories of small plans have none."""
    has_issues: bool = True
    has_projects: bool = True
    has_wiki: bool = True
    allow_merge_commit: bool = True
    allow_squash_merge: bool = True
    allow_rebase_merge: bool = True
    allow_auto_merge: bool = False
    allow_update_branch: bool = False
    delete_branch_on_merge: bool = False
    roles: dict[int, str] = {}
    protections: dict[str, Protection] = {}
    # By name in lower case.
    labels: dict[str, Label] = {}
    last_number: int = 0
    issues: dict[int, Issue] = {}
    pulls: dict[int, PullRequest] = {}
    comments: dict[int, Comment] = {}
    reviews: dict[int, Review] = {}
    review_comments: dict[int, ReviewComment] = {}
    check_suites: dict[int, CheckSuite] = {}
    check_runs: dict[int, CheckRun] = {}
    statuses: list[Status] = []
    releases: dict[int, Release] = {}
    dispatches: list[Dispatch] = []
