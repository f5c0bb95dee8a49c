"""Issues, comments, labels, assignees."""

from __future__ import annotations

from github_simulator.rules.rule import INVALID, declare

ISSUES_OFF = declare(
    "issues_off", 410, "Issues has been disabled in this repository.", "issues/create 410"
)
TITLE_BLANK = declare("title_blank", 422, INVALID, "issues/create 422: title missing_field")
TITLE_LONG = declare("title_long", 422, INVALID, "issues/create 422: 256 characters")
BODY_LONG = declare("body_long", 422, INVALID, "issues/create-comment 422: 65536 characters")
BODY_BLANK = declare("body_blank", 422, INVALID, "issues/create-comment 422: body cannot be blank")
LOCKED = declare(
    "locked",
    403,
    "Unable to create comment because issue is locked.",
    "communities/locking-conversations",
)
NOT_AUTHOR = declare(
    "not_author",
    403,
    "Must have push access to repository",
    "issues/update: its author or someone with push access",
)
ASSIGNEE_INVALID = declare("assignee_invalid", 422, INVALID, "issues/create 422: assignees invalid")
ASSIGNEES_MANY = declare("assignees_many", 422, INVALID, "issues/add-assignees: up to 10")
LABEL_EXISTS = declare("label_exists", 422, INVALID, "issues/create-label 422: already_exists")
LABEL_NAME = declare(
    "label_name", 422, INVALID, "issues/create-label 422: name of 1 to 50 characters"
)
LABEL_COLOR = declare(
    "label_color", 422, INVALID, "issues/create-label 422: six hexadecimal digits"
)
LABEL_SHAPE = declare(
    "label_shape", 422, INVALID, "issues/add-labels 422: names, or objects with a name"
)
LABELS_MANY = declare("labels_many", 422, INVALID, "issues/add-labels: 100 labels on an issue")
