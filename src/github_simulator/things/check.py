"""What is said of a commit: check suites, check runs with annotations, statuses."""

from __future__ import annotations

from typing import Any

import msgspec

CONCLUSIONS = (
    "action_required",
    "cancelled",
    "failure",
    "neutral",
    "success",
    "skipped",
    "stale",
    "timed_out",
)
PASSING = ("success", "neutral", "skipped")


class CheckSuite(msgspec.Struct, kw_only=True):
    id: int
    app_id: int
    head_sha: str
    head_branch: str | None
    before: str | None
    created_ms: int
    updated_ms: int


class CheckRun(msgspec.Struct, kw_only=True):
    id: int
    suite_id: int
    app_id: int
    name: str
    head_sha: str
    external_id: str
    details_url: str | None
    status: str
    conclusion: str | None
    started_ms: int | None
    completed_ms: int | None
    title: str | None = None
    summary: str | None = None
    text: str | None = None
    annotations: list[dict[str, Any]] = []
    actions: list[dict[str, Any]] = []


class Status(msgspec.Struct, frozen=True, kw_only=True):
    id: int
    sha: str
    state: str
    context: str
    description: str | None
    target_url: str | None
    creator_id: int
    created_ms: int
