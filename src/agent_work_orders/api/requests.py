"""What callers may send. Unknown fields are refused by name: nothing can be set by the way."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from agent_work_orders.errors import BadRequest, Refused
from agent_work_orders.work_orders import keys
from agent_work_orders.work_orders.submit import PROMPT_LIMIT_CHARS, NewOrder

Text = Annotated[str, Field(max_length=64 * 1024)]
Short = Annotated[str, Field(max_length=255)]
Url = Annotated[str, Field(min_length=1, max_length=2048)]
Priority = Annotated[
    Literal["low", "medium", "high", "urgent"],
    BeforeValidator(lambda given: given.lower() if isinstance(given, str) else given),
]


class Sent(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _OrderFields(Sent):
    repository_url: Url = Field(
        description="Address of the repository, or a path on the server's machine",
        examples=["https://github.com/user/repo.git"],
    )
    sandbox_type: Short | None = Field(
        None,
        description="Where the agent works; the server's default if left out",
        examples=["git_branch"],
    )
    github_issue_number: Short | None = Field(None, description="Issue to work on", examples=["42"])
    initial_prompt: Text | None = Field(None, description="What the agent is asked to do")
    title: Annotated[str, Field(max_length=200)] | None = Field(
        None, description="A short name for people; from the prompt if left out"
    )
    base_branch: Short | None = Field(None, description="Branch to start from; the default one")
    priority: Priority = Field("medium", description="Who goes first when all cannot run")
    inputs: dict[str, Any] = Field(
        default_factory=dict, description="Values of the workflow's declared inputs"
    )
    agent: Short | dict[str, Any] | None = Field(
        None,
        description='Name of the agent, or `{"name": …}` with its options',
        examples=["claude_code"],
    )
    agent_timeout_s: float | None = Field(None, ge=1, le=86_400, description="Limit of a turn")

    def agent_value(self) -> dict[str, Any] | None:
        return {"name": self.agent} if isinstance(self.agent, str) else self.agent


class CreateAgentWorkOrderRequest(_OrderFields):
    """Request to create a new work order."""

    workflow_type: Short | None = Field(
        None,
        description="Name of the workflow",
        examples=["agent_workflow_plan_build_test"],
    )
    workflow_source: Annotated[str, Field(max_length=1_048_576)] | None = Field(
        None, description="A workflow as YAML, instead of a name"
    )

    def order(self, idempotency_key: str | None) -> NewOrder:
        if (self.workflow_type is None) == (self.workflow_source is None):
            raise Refused(
                "workflow_choice",
                "Give either workflow_type or workflow_source",
                hint="GET /api/workflows lists the names.",
                field="workflow_type",
            )
        return _order(self, self.workflow_type or "", self.workflow_source, idempotency_key)


class TriggerWorkflowRequest(_OrderFields):
    """Request to run a named workflow."""

    def order(self, name: str, idempotency_key: str | None) -> NewOrder:
        return _order(self, name, None, idempotency_key)


def _order(
    sent: _OrderFields, workflow: str, source: str | None, idempotency_key: str | None
) -> NewOrder:
    return NewOrder(
        repository_url=sent.repository_url,
        workflow_type=workflow,
        workflow_source=source,
        sandbox_type=sent.sandbox_type,
        github_issue_number=sent.github_issue_number,
        initial_prompt=sent.initial_prompt,
        title=sent.title,
        base_branch=sent.base_branch,
        priority=sent.priority,
        inputs=sent.inputs,
        agent=sent.agent_value(),
        agent_timeout_s=sent.agent_timeout_s,
        idempotency_key=idempotency_key,
    )


class AgentPromptRequest(Sent):
    """Request to send a prompt to an active agent."""

    agent_work_order_id: Short = Field(description="Work order id; the same as in the address")
    prompt_text: Annotated[str, Field(min_length=1, max_length=64 * 1024)] = Field(
        description="Prompt to send to the agent"
    )

    def check(self, in_path: str) -> None:
        if self.agent_work_order_id != in_path:
            raise BadRequest(
                "order_id_mismatch",
                "The order in the body is not the one in the address",
                hint="Send the same id in both.",
                field="agent_work_order_id",
            )


class RetryRequest(Sent):
    """Which task to start again from (without one, what failed), and what is different now."""

    task: Annotated[str, Field(min_length=1, max_length=400)] | None = None
    prompt_text: Annotated[
        str | None,
        Field(max_length=PROMPT_LIMIT_CHARS, description="For the next agent, with its task"),
    ] = None
    agent_timeout_s: Annotated[
        float | None, Field(description="Longest turn of the order's agents from now on")
    ] = None


class OverrideRequest(Sent):
    """A person's decision about a stuck task."""

    action: Literal["skip", "succeed", "retry"]
    outputs: dict[str, Any] = Field(default_factory=dict, description="With `succeed`: its result")


class DecisionRequest(Sent):
    """An answer to an approval. `subject_hash` is that of what the person looked at."""

    comment: Annotated[str, Field(max_length=4_000)] = ""
    subject_hash: Short | None = None


class ValidateWorkflowRequest(Sent):
    source: Annotated[str, Field(max_length=1_048_576)] = Field(description="The YAML")


class CreateKeyRequest(Sent):
    name: Annotated[str, Field(min_length=1, max_length=keys.NAME_LIMIT_CHARS, pattern=keys.NAME)]
    role: Literal["viewer", "operator", "approver", "admin"]
    repositories: list[Url] | None = Field(
        None, max_length=200, description="Addresses it may see and use; all if left out"
    )


class SignInRequest(Sent):
    """A way in: the token of a one-time link, or an API key."""

    token: Short | None = Field(None, description="Of a link that `awo up` or `awo open` gave")
    key: Short | None = Field(None, description="An API key")

    def check(self) -> None:
        if (self.token is None) == (self.key is None):
            raise Refused(
                "sign_in_choice",
                "Give either token or key",
                hint="`awo open` gives a link with a token.",
                field="token",
            )


class GitHubRepositoryVerificationRequest(Sent):
    """Request to verify repository access."""

    repository_url: Url = Field(description="Repository to verify")
