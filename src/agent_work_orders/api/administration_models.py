"""Further answers: approvals, keys, audit, lists of parts, status, problems."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from agent_work_orders.api.models import Answer


class Approval(Answer):
    approval_id: str
    agent_work_order_id: str
    task: str
    message: str
    subject: dict[str, Any] = Field(description="What is asked for, in full")
    subject_hash: str = Field(description="Send it back with the decision")
    head_sha: str | None = Field(
        description="The commit that the question is about: its changes are those to look at. "
        "Empty for an order without one, null for questions from before commits were bound"
    )
    state: Literal["asked", "approved", "rejected", "expired", "void"]
    asked_at: datetime
    expires_at: datetime | None
    decided_by: str | None
    decided_at: datetime | None
    comment: str | None


class ApprovalAnswer(Answer):
    approval: Approval


class ApprovalList(Answer):
    approvals: list[Approval]


class Tool(Answer):
    name: str
    summary: str
    risk: Literal["low", "medium", "high"]
    undo: str | None
    takes_prompts: bool
    shaped: dict[str, str] = Field(
        description="Outputs whose schema a task gives, and the inputs that it stands in"
    )
    timeout_s: float
    inputs: dict[str, Any]
    outputs: dict[str, Any]


class ToolList(Answer):
    tools: list[Tool]


class AvailableAgent(Answer):
    name: str
    description: str
    default: bool
    problem: str | None = Field(description="Why it cannot run here; null when it can")


class AvailableAgentList(Answer):
    agents: list[AvailableAgent]


class IsolationText(Answer):
    files: str
    processes: str
    network: str
    credentials: str
    summary: str


class SandboxType(Answer):
    name: str
    available: bool = Field(description="Whether there is such a type")
    default: bool
    isolation: IsolationText | None
    problem: str | None = Field(description="Why none can be made here; null when one can")
    hint: str | None


class SandboxTypeList(Answer):
    sandbox_types: list[SandboxType]


class Key(Answer):
    key_id: str
    name: str
    role: Literal["viewer", "operator", "approver", "admin"]
    repositories: list[str] | None
    created_at: datetime
    revoked_at: datetime | None
    last_used_at: datetime | None


class KeyAnswer(Answer):
    key: Key


class NewKeyAnswer(Answer):
    key: Key
    token: str = Field(description="Shown this once")


class KeyList(Answer):
    keys: list[Key]


class Session(Answer):
    """Who is signed in."""

    name: str
    role: Literal["viewer", "operator", "approver", "admin"]
    repositories: list[str] | None
    expires_at: datetime | None = Field(description="Null for a key, which does not expire")


class SessionAnswer(Answer):
    session: Session


class SignedIn(SessionAnswer):
    page_secret: str = Field(
        description="To be sent as `X-AWO-Page` beside the cookie; it is never shown again"
    )


class SignedOut(Answer):
    signed_out: bool = Field(description="False when there was no session to end")


class SignInLink(Answer):
    path: str = Field(description="With the token as its fragment; it works once")
    expires_at: datetime


class AuditEntry(Answer):
    n: int
    at: datetime
    who: str
    what: str
    agent_work_order_id: str | None
    target: str
    details: dict[str, Any]


class AuditPage(Answer):
    entries: list[AuditEntry]
    next_after: int


class GitHubRepository(Answer):
    repository_owner: str
    repository_name: str
    repository_url: str
    default_branch: str
    is_accessible: bool
    access_verified_at: datetime | None
    branches: list[str] = Field(description="At most a hundred")


class GitHubRepositoryVerificationResponse(Answer):
    repository: GitHubRepository
    verification_success: bool
    error_message: str | None
    error_hint: str | None


class EngineStatus(Answer):
    ok: bool
    state: str
    reason: str
    open: int
    running: int
    queued: int
    timers: int
    quarantined: list[str]


class GithubCredential(Answer):
    credential: str = Field(description="Its name, without secrets")
    limit: int | None
    remaining: int | None = Field(description="Of the hour's quota; null when nothing was told")
    reset_at: datetime | None
    held_until: datetime | None = Field(description="Nothing is sent before")
    reason: str


class GithubStanding(Answer):
    """The totals are since the server began."""

    under_way: int
    waiting: int = Field(description="Requests that wait for their turn, for moments only")
    sent: int
    held: int = Field(description="Not sent, because a limit or an outage was known")
    limited: int = Field(description="Answered with a limit")
    failed: int = Field(description="Not answered, or with 5xx")
    unavailable_until: datetime | None = Field(description="After failures in a row")
    credentials: list[GithubCredential]


class EventLoop(Answer):
    """How long the server kept everybody waiting, since it began to serve."""

    longest_pause_ms: float = Field(description="Known to within 10 ms")
    longest_pause_at: datetime | None = Field(description="When it was over")
    longest_pause_cpu_ms: float = Field(
        description="The processor's time that the process used in it: much less than the pause "
        "means that the machine had no turn for it, or that it waited for the disk"
    )
    longest_pause_in: str = Field(description="Where the program was, if that could be seen")
    long_pauses: int = Field(description="Those longer than 100 ms")


class Status(Answer):
    status: Literal["ok", "degraded"]
    version: str
    started_at: datetime
    active_tasks: int
    queued_tasks: int
    sandbox_count: int
    credential_status: dict[str, Literal["configured", "missing"]]
    work_orders: dict[str, int]
    approvals_asked: int
    engine: EngineStatus
    journal: str = Field(description="`ok`, `rows_damaged`, or the code of its trouble")
    event_loop: EventLoop
    github: GithubStanding | None = Field(description="Null when it is not configured")


class Health(Answer):
    status: Literal["ok"]


class Readiness(Answer):
    ready: bool
    reason: str | None


class ProblemDocument(BaseModel):
    """RFC 9457. `code` is stable; docs/reference/errors.md lists them all."""

    model_config = ConfigDict(extra="forbid")

    type: str
    title: str
    status: int
    detail: str
    code: str
    hint: str | None = None
    field: str | None = None
    errors: list[dict[str, Any]] = []
    instance: str | None = None
    request_id: str | None = None
