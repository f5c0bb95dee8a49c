"""Recorded histories: a plan, the events a run accepted, and what became of it.

`python histories.py` in this folder writes those that are missing. One that exists is never
written again: it is what an older version did, and what every later one has to do.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import plans
from driver import START_MS, Script, World
from plans import ASK, UNDO, child, foreach, gate, group, repeat, tool

from agent_work_orders.workflow_engine import effects as ask
from agent_work_orders.workflow_engine import events as on
from agent_work_orders.workflow_engine import plan as planning
from agent_work_orders.workflow_engine.machine import advance
from agent_work_orders.workflow_engine.plan import Plan
from agent_work_orders.workflow_engine.run import Run, fresh

FOLDER = Path(__file__).parent / "histories"

LOOP = repeat(
    "fix",
    tool("build", with_={"n": "{{ iteration }}"}, takes_prompts=True),
    tool("check", "build", with_={"last": "{{ previous.check.outputs.n | default(0) }}"}),
    needs=("plan",),
    until="tasks.check.outputs.ok",
)
SMOKE = foreach(
    "smoke",
    ["api", "web", "db"],
    tool("smoke", with_={"of": "{{ item }}"}, undo=UNDO),
    needs=("fix",),
    parallel=2,
)
ORDER = plans.plan(
    tool("plan", phase="planning"),
    LOOP,
    SMOKE,
    tool("publish", "smoke", approval=ASK, undo=UNDO, on_failure="rollback"),
    outputs={"fixed": "{{ tasks.fix.outputs.iterations }}"},
)
FAMILY = plans.plan(
    child("one", "inner"),
    child("two", "inner", "one"),
    group("rest", gate("ask"), tool("last", "ask", on_failure="rollback"), needs=("two",)),
    children={"inner": plans.plan(tool("a", undo=UNDO), tool("b", "a", on_failure="pause"))},
)


def asked(*wishes: tuple[int, Any, dict[str, Any]]) -> dict[int, on.AnyEvent]:
    """A person's wishes, each after so many happenings."""
    return {
        after: kind(at_ms=START_MS + after, by="ann", **fields) for after, kind, fields in wishes
    }


STORIES: dict[str, tuple[Plan, Script, dict[int, on.AnyEvent]]] = {
    "all_goes_well": (ORDER, Script(), {}),
    "a_rough_road": (ORDER, Script(answers=("succeed", "transient", "park", "lose")), {}),
    "rolled_back": (
        ORDER,
        Script(exact={"publish": ("permanent",)}, undos=("succeed", "transient")),
        {},
    ),
    "rejected": (ORDER, Script(decisions=("reject",)), {}),
    "cancelled_and_taken_up_again": (
        ORDER,
        Script(),
        asked((4, on.CancelAsked, {}), (6, on.RetryAsked, {})),
    ),
    "a_person_steps_in": (
        ORDER,
        Script(exact={"fix[1].build": ("permanent", "succeed")}),
        asked(
            (2, on.TaskOverridden, {"path": "fix[1].build", "action": "retry"}),
            (3, on.PauseAsked, {}),
            (5, on.ResumeAsked, {}),
            (9, on.RetryAsked, {"path": "fix[1].check"}),
        ),
    ),
    "a_family": (FAMILY, Script(exact={"rest.last": ("permanent",)}), {}),
    "a_family_with_trouble": (
        FAMILY,
        Script(answers=("succeed", "lose"), exact={"b": ("permanent", "succeed")}),
        {},
    ),
}


def record(name: str) -> list[dict[str, Any]]:
    told, script, wishes = STORIES[name]
    world, chance = World(told, script), Random(name)
    for count in range(500):
        if count in wishes:
            world.post(wishes[count])
        for run_id in world.paused() if count > max(wishes, default=0) else ():
            world.post(on.ResumeAsked(at_ms=world.now_ms), run_id)
        if choices := world.choices():
            world.take(choices[chance.randrange(len(choices))])
    return [
        {"run_id": run_id, "plan": built(world.runs[run_id].plan)}
        | {"events": [built(event) for event in events]}
        | replayed(run_id, world.runs[run_id].plan, events)
        for run_id, events in sorted(world.journal.items())
    ]


def built(value: Any) -> Any:
    return json.loads(msgspec.json.encode(value))


def replayed(run_id: str, told: Plan, events: list[on.AnyEvent]) -> dict[str, Any]:
    """What the machine makes of the events: what it asks for after each, and how it ends."""
    run = fresh(run_id, told, "hash")
    wanted = []
    for event in events:
        step = advance(run, event)
        run = step.run
        wanted.append([_named(effect) for effect in step.effects])
    return {"asked": wanted, "end": summary(run)}


def _named(effect: ask.AnyEffect) -> str:
    match effect:
        case ask.SetTimer() | ask.ClearTimer():
            return f"{effect.__struct_config__.tag} {effect.timer}"
        case ask.Finish():
            return f"finish {effect.outcome}"
        case ask.Perform() | ask.Undo():
            return f"{effect.__struct_config__.tag} {effect.key} #{effect.attempt}"
        case _:
            return f"{effect.__struct_config__.tag} {effect.path}"


def summary(run: Run) -> dict[str, Any]:
    return {
        "stage": run.stage,
        "outcome": run.outcome,
        "outputs": run.outputs,
        "failure": run.failure and run.failure.code,
        "cost_usd": run.usage.cost_usd,
        "tasks": {
            path: [task.state, task.attempt, task.generation, task.outputs, task.undone]
            for path, task in sorted(run.tasks.items())
        },
    }


def load(path: Path) -> list[tuple[str, Plan, list[on.AnyEvent], dict[str, Any]]]:
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        kept = json.loads(line)
        told = planning.decode(json.dumps(kept["plan"]).encode())
        events = [on.decode(json.dumps(event).encode()) for event in kept["events"]]
        found.append(
            (kept["run_id"], told, events, {name: kept[name] for name in ("asked", "end")})
        )
    return found


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name in STORIES:
        path = FOLDER / f"{name}.jsonl"
        if not path.exists():
            lines = [json.dumps(line, ensure_ascii=False, sort_keys=True) for line in record(name)]
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
