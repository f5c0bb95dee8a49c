"""Starting a workflow by hand. What it would do is nobody's business here; that it was started
is kept and told."""

from __future__ import annotations

from typing import Any

from agent_work_orders.workflow_engine import yaml_source
from github_simulator.asking import access
from github_simulator.call import Answer, Call, Field, Route
from github_simulator.changes import webhooks, writing
from github_simulator.rules import refusals
from github_simulator.things.repository import Dispatch, Repository

_FOLDER = ".github/workflows"


def dispatch(call: Call) -> Answer:
    repository, body = access.repository(call), call.body
    name, ref = call.params["workflow_id"], body["ref"]
    git = call.world.git(repository)
    on_default = _read(call, repository, repository.default_branch, name)
    refusals.WORKFLOW_MISSING.when(on_default is None)
    full = next((f"refs/{kind}/{ref}" for kind in ("heads", "tags") if _is(git, kind, ref)), ref)
    refusals.DISPATCH_REF.when(not git.refs(full).get(full), f"No ref found for: {ref}")
    trigger = _trigger(_read(call, repository, full, name))
    refusals.DISPATCH_TRIGGER.when(trigger is None)
    inputs = {key: str(value) for key, value in (body.get("inputs") or {}).items()}
    declared = (trigger or {}).get("inputs") or {}
    unexpected = [key for key in inputs if key not in declared]
    refusals.DISPATCH_INPUTS.when(unexpected, f"Unexpected inputs provided: {unexpected}")
    for key, one in declared.items():
        wanted = isinstance(one, dict) and one.get("required") and "default" not in one
        refusals.DISPATCH_REQUIRED.when(
            wanted and key not in inputs, f"Required input '{key}' not provided"
        )
    author = writing.author(call)
    repository.dispatches.append(
        Dispatch(
            workflow=f"{_FOLDER}/{name}",
            ref=full,
            inputs=inputs,
            actor_id=author.id,
            at_ms=call.now_ms,
        )
    )
    webhooks.emit(
        call.world,
        "workflow_dispatch",
        None,
        repository,
        author,
        inputs=inputs or None,
        ref=full,
        workflow=f"{_FOLDER}/{name}",
    )
    return Answer(status=204)


def _is(git: Any, kind: str, ref: str) -> bool:
    return f"refs/{kind}/{ref}" in git.refs(f"refs/{kind}/{ref}")


def _read(call: Call, repository: Repository, ref: str, name: str) -> Any:
    """The workflow as data, or None when there is no such file."""
    git = call.world.git(repository)
    sha = git.resolve(ref)
    entry = None if sha is None else git.entry(sha, f"{_FOLDER}/{name}")
    if entry is None or entry.kind != "blob":
        return None
    try:
        return yaml_source.load(git.blob(entry.sha).decode("utf-8", "replace"), name)
    except yaml_source.Unreadable:
        return {}


def _trigger(workflow: Any) -> dict[str, Any] | None:
    """`on: workflow_dispatch`, `on: [push, workflow_dispatch]`, or `on: {workflow_dispatch: …}`."""
    on = workflow.get("on") if isinstance(workflow, dict) else None
    if on == "workflow_dispatch" or (isinstance(on, list) and "workflow_dispatch" in on):
        return {}
    if isinstance(on, dict) and "workflow_dispatch" in on:
        found = on["workflow_dispatch"]
        return found if isinstance(found, dict) else {}
    return None


ROUTES = (
    Route(
        method="POST",
        template="/repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches",
        operation="actions/create-workflow-dispatch",
        needs=(("actions", "write"),),
        role="write",
        body=(Field(name="ref", required=True), Field(name="inputs", kinds=("object",))),
        handler=dispatch,
    ),
)
