"""Whether tests stand behind what an order changed: drawn from its run. Pure.

Only what the host itself ran counts, and only for the commits that were there then: what was
changed after the last run of the tests is not verified by it.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from agent_work_orders.workflow_engine.run import ROOT, Run, TaskRun

State = Literal["verified", "unverified", "failed"]
REASON_CHARS = 300


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    state: State
    reason: str


def of(run: Run) -> Verification | None:
    """None when the order has changed nothing, or its tests are still to come."""
    changed, tested = 0, None
    for path, task in run.tasks.items():
        if path == ROOT or task.outputs is None or task.undone == "undone":
            continue
        spec = run.spec(path)
        uses = spec.uses or ""
        if task.outputs.get("commit") and (uses.startswith("agent.") or uses == "git.commit"):
            changed = max(changed, task.ending)
        elif uses == "tests.run" and spec.with_.get("at") != "base" and _ended(task):
            if tested is None or task.ending > tested.ending:
                tested = task
    if not changed:
        return None
    if tested is None or tested.ending < changed:
        if run.stage != "ended":
            return None
        words = "no tests were run" if tested is None else "it was changed after its tests ran"
        return Verification(state="unverified", reason=words)
    return _judged(tested.outputs or {})


def _ended(task: TaskRun) -> bool:
    return task.state in ("succeeded", "failed")


def _judged(outputs: dict[str, Any]) -> Verification:
    """Of outputs of tests.run; those of older versions have no verdict."""
    first = (str(outputs.get("summary") or "").splitlines() or [""])[0]
    run = int(outputs.get("total") or 0) - int(outputs.get("skipped") or 0)
    if outputs.get("passed") and ("verdict" in outputs or run > 0):
        return Verification(state="verified", reason=_cut(first))
    none = outputs.get("verdict", "") == "unverified" or not outputs.get("found")
    if none or outputs.get("passed"):
        return Verification(state="unverified", reason=_cut(first or "no tests were run"))
    return Verification(state="failed", reason=_cut(first or "the tests did not pass"))


def _cut(text: str) -> str:
    return text if len(text) <= REASON_CHARS else text[: REASON_CHARS - 1] + "…"
