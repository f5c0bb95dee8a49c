"""What exactly an approval is about, its fingerprint, and asking for it.

A question is about the task, its input, and the state of the world that people are shown with it
(`shown`: the head commit of the order). That state is no business of the machine: it comes in with
`ApprovalShown`, and becomes a part of what the fingerprint covers.
"""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec
from msgspec.structs import replace

from agent_work_orders.workflow_engine import template
from agent_work_orders.workflow_engine.effects import AskApproval, SetTimer
from agent_work_orders.workflow_engine.plan import Task
from agent_work_orders.workflow_engine.run import Gate
from agent_work_orders.workflow_engine.work import Work, permanent, timer_name

OUTDATED = "approval_outdated"
"""The failure of a task whose approval was for another state of the world: it is asked again."""


def subject(
    run_id: str, path: str, generation: int, spec: Task, input: dict[str, Any]
) -> dict[str, Any]:
    """Everything that will happen if a person says yes, and who may say it. Nothing else is
    approved by it."""
    named = spec.approval.approvers if spec.approval is not None else ()
    return {
        **({"approvers": list(named)} if named else {}),
        "run_id": run_id,
        "task": path,
        "generation": generation,
        "kind": spec.kind,
        "uses": spec.uses,
        "input": input,
        "risk": spec.risk,
    }


def subject_hash(subject: dict[str, Any]) -> str:
    return hashlib.sha256(msgspec.json.encode(subject, order="sorted")).hexdigest()


def ask(work: Work, path: str, spec: Task) -> None:
    """Let the task wait for a person. What is shown with the question is looked up afterwards."""
    assert spec.approval is not None
    try:
        scope = work.names(path, spec)
        message = template.render(spec.approval.message, scope)
        rendered = template.render(spec.with_, scope)
    except template.TemplateError as error:
        work.fail(path, permanent("template_error", error.message, error.hint))
        return
    task = work.look(path)
    what = subject(work.run.run_id, path, task.generation, spec, rendered)
    gate = Gate(
        message=str(message),
        subject=what,
        subject_hash=subject_hash(what),
        asked_ms=work.at_ms,
        expires_ms=work.at_ms,
        round=1 if task.gate is None else task.gate.round + 1,
    )
    work.put(path, state="awaiting_approval", wait="", input=rendered)
    _wait_for_answer(work, path, spec, gate)


def show(work: Work, path: str, facts: dict[str, Any]) -> None:
    """Bind the open question to what is shown with it; ask anew if something else was shown."""
    task, spec = work.look(path), work.run.spec(path)
    gate = task.gate
    assert gate is not None
    what = {name: value for name, value in gate.subject.items() if name != "shown"}
    if facts:
        what["shown"] = facts
    bound = replace(gate, facts=facts, subject=what, subject_hash=subject_hash(what))
    if gate.facts is None:
        work.put(path, gate=bound)
        return
    work.clear_timers(path)
    _wait_for_answer(work, path, spec, replace(bound, asked_ms=work.at_ms, round=gate.round + 1))


def _wait_for_answer(work: Work, path: str, spec: Task, gate: Gate) -> None:
    assert spec.approval is not None
    gate = replace(gate, expires_ms=work.at_ms + int(spec.approval.expires_s * 1000))
    work.put(path, gate=gate)
    timer = timer_name("approval", work.look(path).generation, path)
    work.emit(SetTimer(timer=timer, at_ms=gate.expires_ms))
    work.emit(
        AskApproval(
            path=path,
            message=gate.message,
            subject=gate.subject,
            subject_hash=gate.subject_hash,
            expires_ms=gate.expires_ms,
        )
    )
