"""What exactly an approval is about, and its fingerprint."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from agent_work_orders.workflow_engine.plan import Task


def subject(
    run_id: str, path: str, generation: int, spec: Task, input: dict[str, Any]
) -> dict[str, Any]:
    """Everything that will happen if a person says yes. Nothing else is approved by it."""
    return {
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
