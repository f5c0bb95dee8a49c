"""What the API answers, for OpenAPI and for generated clients.

The answers themselves are built by views.py; tests hold them to these models. Names and enum
values of the first eight classes are those of the product's documents: extended, never renamed.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Verification = Literal["verified", "unverified", "failed"]
CostCertainty = Literal["exact", "estimated", "at_least"]


class AgentWorkOrderStatus(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    PAUSED = "paused"
    WAITING = "waiting"


class AgentWorkflowPhase(StrEnum):
    PLANNING = "planning"
    IMPLEMENTING = "implementing"
    TESTING = "testing"
    COMPLETED = "completed"


class Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")


class AgentWorkOrderState(Answer):
    """The least that is stored of an order."""

    agent_work_order_id: str = Field(description="Unique id", examples=["wo-k3v7abcdefgh2345"])
    repository_url: str
    git_branch_name: str | None
    agent_session_id: str | None = Field(description="Session of the agent, for resumption")


class AgentWorkOrderSummary(AgentWorkOrderState):
    """A line of the list: everything but what only git knows."""

    repository: str = Field(description="Key of the repository, for filters and access rules")
    base_branch: str | None
    sandbox_type: str
    sandbox_identifier: str | None
    workflow_type: str
    workflow_version: str = Field(description="Hash of the version that it runs")
    github_issue_number: str | None
    initial_prompt: str | None
    title: str | None
    task_type: str
    priority: str
    status: AgentWorkOrderStatus
    waiting_reason: str | None
    waiting_until: datetime | None
    current_phase: AgentWorkflowPhase | None
    agent: dict[str, Any]
    created_by: str
    created_at: datetime
    updated_at: datetime
    execution_started_at: datetime | None
    execution_completed_at: datetime | None
    github_pull_request_url: str | None
    error_code: str | None
    error_message: str | None
    error_hint: str | None
    cost_usd: float
    warnings: list[str]
    rolled_back: bool = Field(description="Rolled back, or being so: it cannot be retried")
    verification: Verification | None = Field(
        description="Whether tests stand behind what it changed; null while not known"
    )
    verification_reason: str | None
    cost_certainty: CostCertainty = Field(
        description="`estimated`: in part from tokens at list prices; `at_least`: something that "
        "was used has no known price"
    )
    branch_offered: bool = Field(
        description="Its branch is in the repository; until then `git_branch_name` is a name only"
    )


class AgentWorkOrder(AgentWorkOrderSummary):
    """An order with what git says of it now."""

    git_commit_count: int
    git_files_changed: int
    git_lines_added: int
    git_lines_removed: int


class AgentWorkOrderResponse(Answer):
    agent_work_order: AgentWorkOrder
    logs_url: str


class AgentWorkOrderList(Answer):
    agent_work_orders: list[AgentWorkOrderSummary]
    total_count: int
    has_more: bool


class AgentPromptResponse(Answer):
    agent_work_order_id: str
    prompt_accepted: bool
    message: str
    prompt_id: str


class PhaseHistoryEntry(Answer):
    phase: AgentWorkflowPhase
    started_at: datetime
    completed_at: datetime | None
    commits: int


class GitProgressSnapshot(Answer):
    agent_work_order_id: str
    current_phase: AgentWorkflowPhase | None
    git_commit_count: int
    git_files_changed: int
    git_lines_added: int
    git_lines_removed: int
    latest_commit_message: str | None
    latest_commit_sha: str | None
    snapshot_timestamp: datetime
    phase_history: list[PhaseHistoryEntry]


class LogEntry(BaseModel):
    """Further fields depend on the event."""

    model_config = ConfigDict(extra="allow")

    timestamp: datetime
    level: str
    event: str
    agent_work_order_id: str
    n: int = Field(description="From 1 for each order")


class LogEntries(Answer):
    agent_work_order_id: str
    log_entries: list[LogEntry]
    total_count: int
    has_more: bool


class TaskFailure(Answer):
    category: str
    code: str
    message: str
    hint: str


class TaskApproval(Answer):
    message: str
    subject: dict[str, Any]
    subject_hash: str
    head_sha: str | None = Field(
        description="The commit that is shown with the question; empty before there is one, "
        "null until it is known"
    )
    expires_at: datetime | None
    decision: str | None
    by: str | None
    comment: str | None


class TaskUsage(Answer):
    cost_usd: float
    cost_certainty: CostCertainty
    input_tokens: int
    output_tokens: int
    turns: int
    model: str | None


class Task(Answer):
    path: str
    kind: str
    uses: str | None
    phase: str | None
    needs: list[str]
    state: str
    waiting: str | None
    attempt: int
    generation: int
    started_at: datetime | None
    ended_at: datetime | None
    waiting_reason: str | None
    waiting_until: datetime | None
    outputs: Any
    failure: TaskFailure | None
    tolerated: bool
    undone: str | None
    iterations: int | None
    items: int | None
    risk: str
    approval: TaskApproval | None
    usage: TaskUsage | None = Field(description="Of its agent, over all attempts; null without")
    denials: list[str] = Field(
        description="What the agent asked for and was not allowed to do, in its own words: data"
    )


class TaskList(Answer):
    agent_work_order_id: str
    tasks: list[Task]


class DiffAnswer(Answer):
    agent_work_order_id: str
    diff: str
    truncated: bool


class Commit(Answer):
    """One of the order's own commits. All texts are data, whoever wrote them."""

    sha: str
    subject: str
    body: str = Field(description="Below the subject, at most 4,000 characters")
    author: str
    at: datetime
    phase: str | None
    task: str | None = Field(description="Path of the task that made it")
    files_changed: int | None = Field(description="Against its first parent; null if not counted")
    lines_added: int | None
    lines_removed: int | None


class CommitList(Answer):
    agent_work_order_id: str
    commits: list[Commit]
    has_more: bool


class CommitDiffAnswer(DiffAnswer):
    sha: str


class Review(Answer):
    """What was offered for review of a repository without a forge."""

    number: int
    state: Literal["draft", "open", "closed"]
    title: str
    summary: str
    head_branch: str
    base_branch: str
    head_sha: str
    base_sha: str
    closed_because: str
    evidence: dict[str, Any] = Field(description="Tests, commits, warnings… as far as there are")


class ReviewAnswer(Answer):
    agent_work_order_id: str
    review: Review | None = Field(description="Null until there is one")


class TranscriptEntry(Answer):
    cursor: int = Field(description="Give it as `after` to go on behind this entry")
    kind: str
    text: str
    data: dict[str, Any]


class TranscriptMatch(Answer):
    task: str
    cursor: int = Field(description="As of an entry: behind it")
    after: int = Field(description="Give it as `after` to read from this entry on")
    kind: str
    excerpt: str


class TranscriptPage(Answer):
    agent_work_order_id: str
    task: str | None
    tasks: list[str] = Field(description="Tasks that have a transcript")
    entries: list[TranscriptEntry]
    matches: list[TranscriptMatch] = Field(description="With `q`: entries that contain it")
    next_after: int
    has_more: bool


class ArtifactEntry(Answer):
    name: str
    task: str | None
    sha256: str
    size_bytes: int
    media_type: str
    created_at: datetime
    url: str


class ArtifactList(Answer):
    agent_work_order_id: str
    artifacts: list[ArtifactEntry]


class WorkflowInput(Answer):
    type: str
    required: bool
    default: Any
    items: str | None
    description: str
    enum: list[Any] | None


class WorkflowSummary(Answer):
    name: str
    description: str
    kind: str
    origin: Literal["builtin", "user", "repository"]
    aliases: list[str]
    inputs: dict[str, WorkflowInput]


class WorkflowList(Answer):
    workflows: list[WorkflowSummary]


class WorkflowTask(Answer):
    id: str = Field(description="Inside a loop, fan-out or group: `scope.task`")
    kind: str
    uses: str | None
    needs: list[str]
    phase: str | None
    risk: str
    approval: str | None = Field(description="The question, if a person is asked first")


class Workflow(WorkflowSummary):
    source: str
    hash: str
    tasks: list[WorkflowTask]


class WorkflowAnswer(Answer):
    workflow: Workflow


class WorkflowVersionEntry(Answer):
    version: int
    hash: str
    created_at: datetime
    created_by: str
    origin: str
    source: str


class WorkflowVersions(Answer):
    name: str
    versions: list[WorkflowVersionEntry]


class WorkflowProblem(Answer):
    file: str
    line: int
    column: int
    path: str
    message: str
    hint: str


class WorkflowValidation(Answer):
    valid: bool
    problems: list[WorkflowProblem]
    workflow: Workflow | None
