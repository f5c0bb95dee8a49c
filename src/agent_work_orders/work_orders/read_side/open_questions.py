"""Which questions a run asks: its tasks that wait for a decision, and the id of each. Pure."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

from agent_work_orders.workflow_engine.plan import Task
from agent_work_orders.workflow_engine.run import Gate, Run, TaskRun

MOST_PLANS = 256


def approval_id_of(run_id: str, path: str, generation: int, round: int = 1) -> str:
    """Stable: the same question has the same id after a restart; one that is asked anew has
    another."""
    again = f".{round}" if round > 1 else ""
    return f"{run_id}:{path}:{generation}{again}"


def gated(run: Run) -> list[str]:
    """Tasks that may have an approval. A gate inside a loop or a fan-out can stand anywhere; the
    others have one place."""
    gates, tasks = _gates_of(run.plan_hash, run.specs), run.tasks
    if any("[" in gate for gate in gates):
        return [path for path, task in tasks.items() if task.gate is not None]
    return [gate for gate in gates if gate in tasks]


def open_questions(run: Run) -> Iterator[tuple[str, TaskRun, Gate]]:
    if run.stage != "active":
        return
    for path in gated(run):
        task = run.tasks[path]
        if task.state == "awaiting_approval" and task.gate is not None:
            yield path, task, task.gate


_GATES: OrderedDict[str, tuple[str, ...]] = OrderedDict()


def _gates_of(plan_hash: str, specs: dict[str, Task]) -> tuple[str, ...]:
    """Remembered per plan: looking through 10,000 tasks at every event would be quadratic."""
    found = _GATES.get(plan_hash)
    if found is None:
        found = tuple(at for at, spec in specs.items() if spec.approval is not None)
        _GATES[plan_hash] = found
        if len(_GATES) > MOST_PLANS:
            _GATES.popitem(last=False)
    return found
