"""Reviews and comments on lines."""

from __future__ import annotations

from github_simulator.rules.rule import INVALID, declare

OWN_REVIEW = declare(
    "own_review",
    422,
    "Unprocessable Entity",
    "pulls/create-review 422: Can not approve your own pull request",
)
REVIEW_BODY = declare(
    "review_body",
    422,
    "Unprocessable Entity",
    "pulls/create-review: body is required for REQUEST_CHANGES and COMMENT",
)
REVIEW_COMMIT = declare(
    "review_commit",
    422,
    "Unprocessable Entity",
    "pulls/create-review 422: commit_id is not part of the pull request",
)
REVIEW_LINES = declare(
    "review_lines",
    422,
    "Unprocessable Entity",
    "pulls/create-review 422: line must be part of the diff",
)
REVIEW_PATH = declare(
    "review_path",
    422,
    "Unprocessable Entity",
    "pulls/create-review 422: path could not be resolved",
)
REVIEW_PENDING = declare(
    "review_pending",
    422,
    "Unprocessable Entity",
    "pulls/create-review 422: User can only have one pending review per pull request",
)
REVIEW_NOT_PENDING = declare(
    "review_not_pending", 422, "Could not submit pull request review.", "pulls/submit-review 422"
)
REVIEW_NOT_DISMISSABLE = declare(
    "review_not_dismissable",
    422,
    "Can not dismiss a commented pull request review",
    "pulls/dismiss-review 422",
)
COMMENT_LINES = declare(
    "comment_lines", 422, INVALID, "pulls/create-review-comment 422: line must be part of the diff"
)
COMMENT_PATH = declare(
    "comment_path", 422, INVALID, "pulls/create-review-comment 422: path invalid"
)
COMMENT_COMMIT = declare(
    "comment_commit",
    422,
    INVALID,
    "pulls/create-review-comment 422: commit_id is not part of the pull request",
)
COMMENT_RANGE = declare(
    "comment_range",
    422,
    INVALID,
    "pulls/create-review-comment 422: start_line must precede the end line",
)
COMMENT_HUNK = declare(
    "comment_hunk",
    422,
    INVALID,
    "pulls/create-review-comment 422: start_line must be part of the same hunk",
)
COMMENT_LINE_MISSING = declare(
    "comment_line_missing",
    422,
    INVALID,
    "pulls/create-review-comment 422: line is required unless subject_type is file",
)
REPLY_TO_REPLY = declare(
    "reply_to_reply",
    422,
    "Replies to replies are not supported",
    "pulls/create-reply-for-review-comment",
)
