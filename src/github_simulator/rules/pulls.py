"""Pull requests and their merging."""

from __future__ import annotations

from github_simulator.rules.rule import INVALID, declare

HEAD_INVALID = declare("head_invalid", 422, INVALID, "pulls/create 422: head invalid")
BASE_INVALID = declare("base_invalid", 422, INVALID, "pulls/create 422: base invalid")
NO_COMMITS = declare("no_commits", 422, INVALID, "pulls/create 422: No commits between")
NO_DRAFTS = declare(
    "no_drafts",
    422,
    "Draft pull requests are not supported in this repository.",
    "About pull requests: drafts need a public repository or a plan that has them",
)
UNRELATED = declare("unrelated", 422, INVALID, "pulls/create 422: no history in common")
PULL_EXISTS = declare(
    "pull_exists", 422, INVALID, "pulls/create 422: A pull request already exists"
)
TITLE_OR_ISSUE = declare(
    "title_or_issue", 422, INVALID, "pulls/create 422: title is required unless issue is given"
)
REOPEN_GONE = declare(
    "reopen_gone", 422, INVALID, "pulls/update 422: state cannot be changed, the branch is gone"
)
REOPEN_EXISTS = declare(
    "reopen_exists", 422, INVALID, "pulls/update 422: state cannot be changed, another is open"
)
REOPEN_MERGED = declare(
    "reopen_merged", 422, INVALID, "pulls/update 422: state cannot be changed, it is merged"
)
BASE_CLOSED = declare(
    "base_closed", 422, INVALID, "pulls/update 422: cannot change base of closed pull request"
)
REVIEWER_AUTHOR = declare(
    "reviewer_author",
    422,
    "Review cannot be requested from pull request author.",
    "pulls/request-reviewers 422",
)
REVIEWER_STRANGER = declare(
    "reviewer_stranger",
    422,
    "Reviews may only be requested from collaborators. One or more of the users or teams you "
    "specified is not a collaborator of the {repo} repository.",
    "pulls/request-reviewers 422",
)
BRANCH_HEAD_MOVED = declare(
    "branch_head_moved",
    422,
    "expected head sha didn't match current head ref.",
    "pulls/update-branch 422",
)
BRANCH_CURRENT = declare(
    "branch_current", 422, "There are no new commits on the base branch.", "pulls/update-branch 422"
)
BRANCH_CONFLICT = declare(
    "branch_conflict", 422, "merge conflict between base and head", "pulls/update-branch 422"
)

MERGE_DRAFT = declare("merge_draft", 405, "Pull Request is still a draft", "pulls/merge 405")
MERGE_CLOSED = declare("merge_closed", 405, "Pull Request is not mergeable", "pulls/merge 405")
MERGE_CONFLICT = declare("merge_conflict", 405, "Pull Request is not mergeable", "pulls/merge 405")
MERGE_METHOD = declare(
    "merge_method", 405, "Merge commits are not allowed on this repository.", "pulls/merge 405"
)
MERGE_HEAD_MOVED = declare(
    "merge_head_moved",
    409,
    "Head branch was modified. Review and try the merge again.",
    "pulls/merge 409",
)
MERGE_CHECKS = declare(
    "merge_checks",
    405,
    "Required status check is expected.",
    "repositories/about-protected-branches: status checks",
)
MERGE_REVIEWS = declare(
    "merge_reviews",
    405,
    "At least 1 approving review is required by reviewers with write access.",
    "repositories/about-protected-branches: reviews",
)
MERGE_THREADS = declare(
    "merge_threads",
    405,
    "All comments must be resolved.",
    "repositories/about-protected-branches: conversation resolution",
)
MERGE_BEHIND = declare(
    "merge_behind",
    405,
    "Head branch is out of date. Review and try the merge again.",
    "repositories/about-protected-branches: strict status checks",
)
MERGE_LINEAR = declare(
    "merge_linear",
    405,
    "Merge commits are not allowed on this branch: it requires a linear history.",
    "repositories/about-protected-branches: linear history",
)
