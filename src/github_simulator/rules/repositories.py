"""Repositories, branches, refs, workflows, releases."""

from __future__ import annotations

from github_simulator.rules.rule import INVALID, declare

NAME_TAKEN = declare(
    "name_taken", 422, INVALID, "repos/update 422: name already exists on this account"
)
DEFAULT_BRANCH_MISSING = declare(
    "default_branch_missing", 422, INVALID, "repos/update 422: default_branch must exist"
)
NO_MERGE_METHOD = declare(
    "no_merge_method", 422, INVALID, "repos/update 422: at least one merge method must stay allowed"
)
REF_MALFORMED = declare(
    "ref_malformed",
    422,
    "Reference name must start with 'refs' and have at least two slashes.",
    "git/create-ref 422",
)
REF_EXISTS = declare("ref_exists", 422, "Reference already exists", "git/create-ref 422")
REF_OBJECT = declare("ref_object", 422, "Object does not exist", "git/create-ref 422")
REF_GONE = declare(
    "ref_gone", 422, "Reference does not exist", "git/update-ref 422, git/delete-ref 422"
)
NOT_FAST_FORWARD = declare(
    "not_fast_forward", 422, "Update is not a fast forward", "git/update-ref 422"
)
PROTECTED_REF = declare(
    "protected_ref", 422, "Protected branch update failed", "repositories/about-protected-branches"
)

DISPATCH_TRIGGER = declare(
    "dispatch_trigger",
    422,
    "Workflow does not have 'workflow_dispatch' trigger",
    "actions/create-workflow-dispatch 422",
)
DISPATCH_REF = declare(
    "dispatch_ref", 422, "No ref found for", "actions/create-workflow-dispatch 422"
)
DISPATCH_INPUTS = declare(
    "dispatch_inputs", 422, "Unexpected inputs provided", "actions/create-workflow-dispatch 422"
)
DISPATCH_REQUIRED = declare(
    "dispatch_required", 422, "Required input not provided", "actions/create-workflow-dispatch 422"
)
TAG_EXISTS = declare(
    "tag_exists", 422, INVALID, "repos/create-release 422: tag_name already_exists"
)
TAG_INVALID = declare(
    "tag_invalid", 422, INVALID, "repos/create-release 422: tag_name is not a valid tag"
)
RELEASE_TARGET = declare(
    "release_target", 422, INVALID, "repos/create-release 422: target_commitish invalid"
)
