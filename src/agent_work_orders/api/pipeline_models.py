"""The pipeline's Task model on the wire: camelCase, its own states, times in milliseconds."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from agent_work_orders.api.models import Answer, CostCertainty
from agent_work_orders.api.requests import Priority, Sent, Short, Text, Url
from agent_work_orders.work_orders.pipeline_tasks import PipelineTask as Task
from agent_work_orders.work_orders.pipeline_tasks import TaskStatus, TaskType

# A title and a body together are the prompt, which has the limit of every prompt.
Body = Annotated[str, Field(max_length=64 * 1024 - 512)]
Title = Annotated[str, Field(min_length=1, max_length=256)]
Number = Annotated[int, Field(strict=True, ge=1, le=2**31 - 1)]
Count = Annotated[int, Field(strict=True, ge=0, le=2**53)]
Sha = Annotated[str, Field(pattern=r"^[0-9a-fA-F]{7,64}$")]
Branch = Annotated[str, Field(min_length=1, max_length=255)]


class _Camel(Sent):
    model_config = ConfigDict(extra="forbid", alias_generator=to_camel)


class PipelineRepository(_Camel):
    owner: Short
    name: Short
    clone_url: Url = Field(description="Decides which repository it is")


class PipelineRepositoryWithBranch(PipelineRepository):
    default_branch: Branch


class CustomRepository(_Camel):
    owner: Short | None = None
    name: Short | None = None
    clone_url: Url


class IssueResolutionTask(_Camel):
    issue_number: Number
    issue_title: Title
    issue_body: Body
    repository: PipelineRepositoryWithBranch
    author: Short
    labels: list[Short] = Field(max_length=100)


class PRFile(_Camel):
    sha: Short
    filename: Annotated[str, Field(max_length=4096)]
    status: Literal["added", "modified", "removed"]
    additions: Count
    deletions: Count
    patch: str


class PRReviewTask(_Camel):
    pr_number: Number
    pr_title: Title
    pr_body: Body
    repository: PipelineRepository
    base_sha: Sha
    head_sha: Sha
    changed_files: list[PRFile] = Field(max_length=3000)


class TestPipelineTask(_Camel):
    __test__ = False  # a test runner would take it for a test by its name

    repository: PipelineRepository
    branch: Branch = Field(description="Its latest commit is tested")
    commit_sha: Sha = Field(description="What triggered it; kept for people")
    triggered_by: Literal["push", "pr", "manual"]


class CustomTask(_Camel):
    repository: CustomRepository
    prompt: Text
    workflow: Annotated[str, Field(min_length=1, max_length=64)] | None = Field(
        None, description="Name of a workflow; agent_workflow_plan_build_test if left out"
    )


class _Submit(_Camel):
    priority: Priority = Field("medium", description="In either case: `high`, `HIGH`")


class SubmitIssueResolution(_Submit):
    type: Literal["issue-resolution"]
    data: IssueResolutionTask


class SubmitPRReview(_Submit):
    type: Literal["pr-review"]
    data: PRReviewTask


class SubmitTestPipeline(_Submit):
    type: Literal["test-pipeline"]
    data: TestPipelineTask


class SubmitCustom(_Submit):
    type: Literal["custom"]
    data: CustomTask


SubmitTaskRequest = Annotated[
    SubmitIssueResolution | SubmitPRReview | SubmitTestPipeline | SubmitCustom,
    Field(discriminator="type"),
]


def task(sent: SubmitIssueResolution | SubmitPRReview | SubmitTestPipeline | SubmitCustom) -> Task:
    data = sent.data.model_dump(mode="json", by_alias=True, exclude_none=True)
    return Task(type=sent.type, priority=sent.priority, data=data)


class _CamelAnswer(Answer):
    model_config = ConfigDict(extra="forbid", alias_generator=to_camel)


class TaskMetrics(_CamelAnswer):
    duration_ms: int
    cost_usd: float
    cost_certainty: CostCertainty
    input_tokens: int
    output_tokens: int
    turns: int
    commits: int
    files_changed: int
    lines_added: int
    lines_removed: int


class TaskResult(_CamelAnswer):
    success: bool
    message: str
    output: dict[str, Any] = Field(description="The workflow's outputs, and `pullRequestUrl`")
    error: str | None = None
    artifacts: list[str] = Field(description="Addresses of what was kept as evidence")
    metrics: TaskMetrics


class PipelineTask(_CamelAnswer):
    """A work order as a task of the pipeline. What is not known yet is left out."""

    id: str = Field(description="Id of the work order")
    type: TaskType
    priority: str
    status: TaskStatus
    created_at: int = Field(description="Milliseconds since 1970, as all times of a task")
    started_at: int | None = None
    completed_at: int | None = None
    retry_count: int
    max_retries: int
    data: dict[str, Any] = Field(description="As it was submitted")
    result: TaskResult | None = None
