"""Orders in the words of the pipeline's Task model: what is asked for, and what is answered.

Pure: a checked task becomes an order, an order with its run becomes a task. The names of the data
are those of the wire (camelCase); the data is kept with the order as it was sent.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from agent_work_orders.repositories.history import Progress
from agent_work_orders.state_manager.artifacts import Artifact
from agent_work_orders.state_manager.records import OrderRecord
from agent_work_orders.tools import commit_message
from agent_work_orders.work_orders.order_facts import facts_of
from agent_work_orders.work_orders.read_side.projection import certainty
from agent_work_orders.work_orders.submit import TITLE_LIMIT_CHARS, NewOrder
from agent_work_orders.workflow_engine.run import Run

Json = dict[str, Any]
TaskType = Literal["issue-resolution", "pr-review", "test-pipeline", "custom"]
TaskStatus = Literal["pending", "in-progress", "completed", "failed"]

MAX_RETRIES = 3
ISSUE_WORKFLOW = "agent_workflow_plan_build_test"
STATUS: dict[str, TaskStatus] = {
    "pending": "pending",
    "running": "in-progress",
    "paused": "in-progress",
    "waiting": "in-progress",
    "completed": "completed",
    "failed": "failed",
    "cancelled": "failed",
}
# Where a field of an order stands in a task, so that a refusal names what was sent.
_SENT_AS: dict[TaskType, dict[str, str]] = {
    "issue-resolution": {
        "base_branch": "data.repository.defaultBranch",
        "github_issue_number": "data.issueNumber",
        "initial_prompt": "data.issueBody",
        "title": "data.issueTitle",
    },
    "pr-review": {"title": "data.prTitle"},
    "test-pipeline": {"base_branch": "data.branch"},
    "custom": {"initial_prompt": "data.prompt", "workflow_type": "data.workflow"},
}


class PipelineTask(msgspec.Struct, frozen=True, kw_only=True):
    """A task as it was submitted; its data has been checked for shape."""

    type: TaskType
    priority: str = "medium"
    data: Json


def order_of(task: PipelineTask, idempotency_key: str | None = None) -> NewOrder:
    """What a task asks for. A review reads the pull request on GitHub itself: what the task says
    of it is kept with the order, and not believed."""
    data = task.data
    asked = NewOrder(
        repository_url=str(data["repository"]["cloneUrl"]),
        priority=task.priority,
        pipeline_task={"type": task.type, "data": data},
        idempotency_key=idempotency_key,
    )
    match task.type:
        case "issue-resolution":
            title = str(data["issueTitle"])
            return msgspec.structs.replace(
                asked,
                workflow_type=ISSUE_WORKFLOW,
                github_issue_number=str(data["issueNumber"]),
                title=commit_message.one_line(title)[:TITLE_LIMIT_CHARS],
                initial_prompt=f"{title}\n\n{data['issueBody']}".rstrip(),
                base_branch=str(data["repository"]["defaultBranch"]),
            )
        case "test-pipeline":
            return msgspec.structs.replace(
                asked, workflow_type="test-pipeline", base_branch=str(data["branch"])
            )
        case "custom":
            return msgspec.structs.replace(
                asked,
                workflow_type=data.get("workflow") or asked.workflow_type,
                initial_prompt=str(data["prompt"]),
            )
        case "pr-review":
            return msgspec.structs.replace(
                asked,
                workflow_type="pr-review",
                inputs={"pull_request": int(data["prNumber"])},
                title=commit_message.one_line(str(data["prTitle"]))[:TITLE_LIMIT_CHARS],
            )


def sent_as(task_type: TaskType, field: str) -> str:
    """The name in a task of what an order calls `field`."""
    if field == "repository_url":
        return "data.repository.cloneUrl"
    return _SENT_AS.get(task_type, {}).get(field, field)


def task_of(
    record: OrderRecord, run: Run, progress: Progress, artifacts: Iterable[Artifact]
) -> Json:
    """The order as a task. What is not known yet is left out."""
    kept = facts_of(run).pipeline_task or _as_custom(record)
    ended = has_ended(record)
    shown: Json = {
        "id": record.agent_work_order_id,
        "type": kept["type"],
        "priority": record.priority,
        "status": STATUS[record.status],
        "createdAt": record.created_at_ms,
        "retryCount": retry_count(run),
        "maxRetries": MAX_RETRIES,
        "data": kept["data"],
    }
    if record.execution_started_at_ms is not None:
        shown["startedAt"] = record.execution_started_at_ms
    if ended and record.execution_completed_at_ms is not None:
        shown["completedAt"] = record.execution_completed_at_ms
    if ended:
        shown["result"] = _result(record, run, progress, artifacts)
    return shown


def has_ended(record: OrderRecord) -> bool:
    return STATUS[record.status] in ("completed", "failed")


def retry_count(run: Run) -> int:
    """How often the most repeated of its tasks was begun again."""
    return max(0, max((task.attempt for task in run.tasks.values()), default=0) - 1)


def _as_custom(record: OrderRecord) -> Json:
    """An order that did not come as a task has what every order has."""
    data = {
        "repository": {"cloneUrl": record.repository_url},
        "prompt": record.initial_prompt or "",
        "workflow": record.workflow_type,
    }
    return {"type": "custom", "data": data}


def _result(
    record: OrderRecord, run: Run, progress: Progress, artifacts: Iterable[Artifact]
) -> Json:
    base = f"/api/agent-work-orders/{record.agent_work_order_id}/artifacts"
    success = record.status == "completed"
    result: Json = {
        "success": success,
        "message": _message(record),
        "output": {**run.outputs, "pullRequestUrl": record.github_pull_request_url},
        "artifacts": [f"{base}/{one.sha256}" for one in artifacts],
        "metrics": _metrics(record, run, progress),
    }
    if not success:
        result["error"] = record.error_message or f"The order was {record.status}"
    return result


def _message(record: OrderRecord) -> str:
    if record.status == "completed":
        return "Completed"
    if record.error_code is None:
        return record.status.capitalize()
    return f"{record.status.capitalize()} ({record.error_code}). {record.error_hint or ''}".rstrip()


def _metrics(record: OrderRecord, run: Run, progress: Progress) -> Json:
    started_ms, ended_ms = record.execution_started_at_ms, record.execution_completed_at_ms
    known = started_ms is not None and ended_ms is not None
    return {
        "durationMs": max(0, (ended_ms or 0) - (started_ms or 0)) if known else 0,
        "costUsd": run.usage.cost_usd,
        "costCertainty": certainty(run.usage),
        "inputTokens": run.usage.input_tokens,
        "outputTokens": run.usage.output_tokens,
        "turns": run.usage.turns,
        "commits": progress.commit_count,
        "filesChanged": progress.files_changed,
        "linesAdded": progress.lines_added,
        "linesRemoved": progress.lines_removed,
    }
