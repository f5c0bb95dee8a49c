"""What does not exist."""

from __future__ import annotations

from github_simulator.rules.rule import declare

NO_SUCH_REPOSITORY = declare("no_such_repository", 404, "Not Found", "repos/get 404")
ACCOUNT_MISSING = declare("account_missing", 404, "Not Found", "users/get-by-username 404")
BRANCH_MISSING = declare("branch_missing", 404, "Branch not found", "repos/get-branch 404")
UNPROTECTED = declare("unprotected", 404, "Branch not protected", "repos/get-branch-protection 404")
FILE_MISSING = declare("file_missing", 404, "Not Found", "repos/get-content 404")
REF_UNKNOWN = declare("ref_unknown", 404, "No commit found for the ref", "repos/get-content 404")
COMMIT_MISSING = declare("commit_missing", 422, "No commit found for SHA", "repos/get-commit 422")
COMPARE_MISSING = declare(
    "compare_missing", 404, "Not Found", "repos/compare-commits-with-basehead 404"
)
REF_MISSING = declare("ref_missing", 404, "Not Found", "git/get-ref 404")
ISSUE_MISSING = declare("issue_missing", 404, "Not Found", "issues/get 404")
COMMENT_MISSING = declare("comment_missing", 404, "Not Found", "issues/get-comment 404")
LABEL_MISSING = declare("label_missing", 404, "Not Found", "issues/get-label 404")
LABEL_NOT_THERE = declare("label_not_there", 404, "Label does not exist", "issues/remove-label 404")
REACTION_MISSING = declare("reaction_missing", 404, "Not Found", "reactions/delete-for-issue 404")
PULL_MISSING = declare("pull_missing", 404, "Not Found", "pulls/get 404")
NOT_MERGED = declare("not_merged", 404, "Not Found", "pulls/check-if-merged 404")
REVIEW_MISSING = declare("review_missing", 404, "Not Found", "pulls/get-review 404")
REVIEW_COMMENT_MISSING = declare(
    "review_comment_missing", 404, "Not Found", "pulls/get-review-comment 404"
)
CHECK_MISSING = declare("check_missing", 404, "Not Found", "checks/get 404")
SUITE_MISSING = declare("suite_missing", 404, "Not Found", "checks/get-suite 404")
WORKFLOW_MISSING = declare(
    "workflow_missing", 404, "Not Found", "actions/create-workflow-dispatch 404"
)
RELEASE_MISSING = declare("release_missing", 404, "Not Found", "repos/get-release 404")
