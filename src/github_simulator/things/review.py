"""What a pull request adds to its issue: branches, merges, reviews, line comments, threads."""

from __future__ import annotations

import msgspec

from github_simulator.things.conversation import Reaction

MERGE_METHODS = ("merge", "squash", "rebase")
OPINIONS = ("APPROVED", "CHANGES_REQUESTED", "DISMISSED")


class AutoMerge(msgspec.Struct, frozen=True, kw_only=True):
    enabled_by: int
    method: str
    title: str | None
    message: str | None
    # As whom it will be merged.
    app_id: int | None = None


class PullRequest(msgspec.Struct, kw_only=True):
    """`head_repository_id` None: the fork is gone. `head_sha` is the head as last seen: a closed
    pull request keeps it. `base_sha` is the tip of the base when it was opened or last moved."""

    number: int
    head_repository_id: int | None
    head_owner_id: int
    head_ref: str
    head_sha: str
    base_ref: str
    base_sha: str
    draft: bool = False
    merged: bool = False
    merged_ms: int | None = None
    merged_by: int | None = None
    merge_commit_sha: str | None = None
    maintainer_can_modify: bool = False
    requested_reviewers: list[int] = []
    auto_merge: AutoMerge | None = None
    # (base, head) for which somebody already asked whether they can be merged.
    asked: tuple[str, str] | None = None


class Review(msgspec.Struct, kw_only=True):
    id: int
    number: int
    user_id: int
    body: str
    state: str
    commit_sha: str
    submitted_ms: int | None
    app_id: int | None = None


class ReviewComment(msgspec.Struct, kw_only=True):
    """`reply_to` is the first comment of its thread; that one's id is the thread's too."""

    id: int
    number: int
    review_id: int
    user_id: int
    body: str
    path: str
    commit_sha: str
    original_sha: str
    diff_hunk: str
    created_ms: int
    updated_ms: int
    line: int | None = None
    side: str = "RIGHT"
    start_line: int | None = None
    start_side: str | None = None
    position: int | None = None
    subject: str = "line"
    reply_to: int | None = None
    app_id: int | None = None
    # Of the thread, kept at its first comment.
    resolved_by: int | None = None
    outdated: bool = False
    reactions: list[Reaction] = []
