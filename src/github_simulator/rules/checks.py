"""Checks and statuses."""

from __future__ import annotations

from github_simulator.rules.rule import INVALID, declare

CHECK_COMMIT = declare("check_commit", 422, "No commit found for SHA", "checks/create 422")
CHECK_CONCLUSION = declare(
    "check_conclusion",
    422,
    "Invalid request.",
    "checks/create: conclusion is required when status is completed",
)
CHECK_STALE = declare(
    "check_stale", 422, "Invalid request.", "checks/update: only GitHub sets the conclusion stale"
)
CHECK_NAME = declare("check_name", 422, "Invalid request.", "checks/create: name is needed")
CHECK_URL = declare(
    "check_url", 422, "Invalid request.", "checks/create: details_url must use http or https"
)
CHECK_LINES = declare(
    "check_lines", 422, "Invalid request.", "checks/create: an annotation ends where it starts on"
)
CHECK_LONG = declare(
    "check_long",
    422,
    "Invalid request.",
    "checks/create: output.summary and output.text of 65535 characters",
)
CHECK_ANNOTATIONS = declare(
    "check_annotations", 422, "Invalid request.", "checks/create: 50 annotations a request"
)
CHECK_COLUMNS = declare(
    "check_columns",
    422,
    "Invalid request.",
    "checks/create: columns only on annotations of one line",
)
CHECK_ACTIONS = declare(
    "check_actions",
    422,
    "Invalid request.",
    "checks/create: 3 actions; label and identifier of 20, description of 40 characters",
)
CHECK_OF_OTHER_APP = declare(
    "check_of_other_app",
    403,
    "Invalid app_id - check run can only be modified by the GitHub App that created it.",
    "checks/update: the App that made it",
)
STATUS_COMMIT = declare(
    "status_commit", 422, "No commit found for SHA", "repos/create-commit-status 422"
)
STATUS_LONG = declare(
    "status_long", 422, INVALID, "repos/create-commit-status 422: description of 140 characters"
)
STATUS_URL = declare(
    "status_url", 422, INVALID, "repos/create-commit-status 422: target_url must be http(s)"
)
STATUSES_MANY = declare(
    "statuses_many", 422, INVALID, "repos/create-commit-status: 1000 for a sha and context"
)
