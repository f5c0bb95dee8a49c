"""A tiny engine without I/O: it performs effects from a script, on a clock that it owns.

Everything that could happen next is a `Choice`; who drives picks one. Answers depend on the
task's path and attempt alone, so that the same script gives the same answers in any order.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from random import Random
from typing import Any, Literal, NamedTuple

import msgspec

from agent_work_orders.workflow_engine import effects as ask
from agent_work_orders.workflow_engine import events as on
from agent_work_orders.workflow_engine.machine import Step, advance
from agent_work_orders.workflow_engine.plan import Plan
from agent_work_orders.workflow_engine.run import Run, fresh

Answer = Literal["succeed", "transient", "permanent", "park", "lose"]
Decision = Literal["approve", "reject", "expire"]
MAIN = "wo-main"
START_MS = 1_000_000


class Script(msgspec.Struct, frozen=True, kw_only=True):
    """What the world answers. A list is walked in an order that path and attempt decide."""

    answers: tuple[Answer, ...] = ("succeed",)
    decisions: tuple[Decision, ...] = ("approve",)
    undos: tuple[Answer, ...] = ("succeed",)
    exact: dict[str, tuple[Answer, ...]] = {}
    """Answers of chosen paths, by attempt."""

    def answer(self, path: str, attempt: int) -> Answer:
        if path in self.exact:
            return self.exact[path][min(attempt, len(self.exact[path])) - 1]
        return self.answers[number(path, attempt) % len(self.answers)]

    def decision(self, path: str, generation: int) -> Decision:
        return self.decisions[number(path, generation, "gate") % len(self.decisions)]

    def undo(self, path: str, attempt: int) -> Answer:
        return self.undos[number(path, attempt, "undo") % len(self.undos)]


def number(*parts: Any) -> int:
    return zlib.crc32(repr(parts).encode())


def outputs(path: str, attempt: int) -> dict[str, Any]:
    value = number(path, attempt, "out")
    return {"path": path, "ok": value % 2 == 0, "n": value % 5, "list": list(range(value % 4))}


class Choice(NamedTuple):
    """Something that may happen next to a run."""

    run_id: str
    kind: str
    name: str
    happen: Callable[[], bool]


Watch = Callable[[Run, on.AnyEvent, Step], None]


class World:
    def __init__(self, plan: Plan, script: Script, watch: Watch | None = None) -> None:
        self.script = script
        self.runs: dict[str, Run] = {}
        self.journal: dict[str, list[on.AnyEvent]] = {}
        self.effects: list[tuple[str, ask.AnyEffect]] = []
        self.now_ms = START_MS
        self._watch = watch
        self._open: dict[tuple[str, str], Choice] = {}
        self._submit(MAIN, plan, {}, None)

    @property
    def run(self) -> Run:
        return self.runs[MAIN]

    # -- driving

    def post(self, event: on.AnyEvent, run_id: str = MAIN) -> bool:
        """Whether the event changed the run."""
        run = self.runs[run_id]
        step = advance(run, event)
        if self._watch is not None:
            self._watch(run, event, step)
        if step.run is run:
            assert not step.effects
            return False
        self.runs[run_id] = step.run
        self.journal[run_id].append(event)
        for effect in step.effects:
            self.effects.append((run_id, effect))
            self._perform(run_id, effect)
        return True

    def choices(self) -> list[Choice]:
        return list(self._open.values())

    def take(self, choice: Choice) -> bool:
        self.now_ms += 1
        del self._open[choice.run_id, choice.name]
        return choice.happen()

    def drive(self, chance: Random, *, limit: int = 5_000) -> None:
        """Let everything happen that can, in an order that chance picks."""
        for _ in range(limit):
            choices = self.choices()
            if not choices:
                return
            self.take(choices[chance.randrange(len(choices))])
        raise AssertionError("the run does not come to rest")

    def paused(self) -> list[str]:
        return [run_id for run_id, run in self.runs.items() if run.paused]

    # -- effects

    def _submit(self, run_id: str, plan: Plan, inputs: Any, parent: on.Parent | None) -> None:
        self.runs[run_id] = fresh(run_id, plan, "hash")
        self.journal[run_id] = []
        order = {"title": "An order"}
        submitted = on.Submitted(
            at_ms=self.now_ms, plan_hash="hash", inputs=inputs, order=order, parent=parent
        )
        assert self.post(submitted, run_id)

    def _perform(self, run_id: str, effect: ask.AnyEffect) -> None:
        match effect:
            case ask.Perform():
                name = f"answer:{effect.attempt}:{effect.path}"
                assert (run_id, name) not in self._open
                self._offer(run_id, "answer", name, lambda: self._answer(run_id, effect))
            case ask.Undo():
                name = f"undo of {effect.path}"
                self._offer(run_id, "undo", name, lambda: self._undo(run_id, effect))
            case ask.StartChild():
                plan = self.runs[run_id].plan.children[effect.workflow]
                parent = on.Parent(run_id=run_id, path=effect.path)
                assert effect.run_id not in self.runs
                self._submit(effect.run_id, plan, effect.inputs, parent)
            case ask.CancelChild():
                cancel = on.CancelAsked(at_ms=self.now_ms, by="parent")
                name = f"cancel {effect.run_id}"
                self._offer(run_id, "tell", name, lambda: self.post(cancel, effect.run_id))
            case ask.RollbackChild():
                name = f"roll back {effect.run_id}"
                self._offer(run_id, "tell", name, lambda: self._roll_back(run_id, effect))
            case ask.SetTimer():
                self._set_timer(run_id, effect)
            case ask.ClearTimer():
                assert self._open.pop((run_id, effect.timer), None) is not None, effect
            case ask.AskApproval():
                self._decide_later(run_id, effect)
            case ask.Finish():
                if effect.parent is not None:
                    parent_id, path = effect.parent.run_id, effect.parent.path
                    told = self._finished(run_id, path, effect)
                    name = f"told by {run_id}"
                    self._offer(parent_id, "tell", name, lambda: self.post(told, parent_id))
            case ask.CancelRunning() | ask.DeliverPrompt():
                pass

    def _offer(self, run_id: str, kind: str, name: str, happen: Callable[[], bool]) -> None:
        self._open[run_id, name] = Choice(run_id, kind, name, happen)

    def _answer(self, run_id: str, effect: ask.Perform) -> bool:
        path, attempt, at_ms = effect.path, effect.attempt, self.now_ms
        usage = on.Usage(cost_usd=0.5, turns=1)
        match self.script.answer(path, attempt):
            case "succeed":
                result: on.AnyEvent = on.TaskSucceeded(
                    at_ms=at_ms,
                    path=path,
                    attempt=attempt,
                    outputs=outputs(path, attempt),
                    usage=usage,
                )
            case "park":
                result = on.TaskParked(
                    at_ms=at_ms,
                    path=path,
                    attempt=attempt,
                    reason="model_quota",
                    until_ms=at_ms + 60_000,
                    usage=usage,
                )
            case "lose":
                result = on.TaskLost(at_ms=at_ms, path=path, attempt=attempt)
            case "transient" | "permanent" as category:
                result = on.TaskFailed(
                    at_ms=at_ms,
                    path=path,
                    attempt=attempt,
                    failure=failure(category, attempt),
                    usage=usage,
                )
        if number(path, attempt, "started") % 2:
            self.post(on.TaskStarted(at_ms=at_ms, path=path, attempt=attempt), run_id)
        return self.post(result, run_id)

    def _undo(self, run_id: str, effect: ask.Undo) -> bool:
        answer = self.script.undo(effect.path, effect.attempt)
        failed = answer in ("transient", "permanent")
        return self.post(
            on.Undone(
                at_ms=self.now_ms,
                path=effect.path,
                failure=failure(answer, effect.attempt) if failed else None,
                attempt=effect.attempt,
            ),
            run_id,
        )

    def _roll_back(self, run_id: str, effect: ask.RollbackChild) -> bool:
        wish = on.RollbackAsked(at_ms=self.now_ms, by="parent")
        if effect.run_id in self.runs and self.post(wish, effect.run_id):
            return True
        # As the engines do: a child that a person called done was never there, and one that
        # cannot be rolled back again has nothing left to undo.
        return self.post(on.Undone(at_ms=self.now_ms, path=effect.path), run_id)

    def _set_timer(self, run_id: str, effect: ask.SetTimer) -> None:
        if effect.timer.startswith("approval:"):
            # Only fired where the script says that nobody decides: see `_decide_later`.
            self._open[run_id, effect.timer] = Choice(run_id, "expiry", effect.timer, bool)
            return

        def fire() -> bool:
            self.now_ms = max(self.now_ms, effect.at_ms)
            return self.post(on.TimerFired(at_ms=self.now_ms, timer=effect.timer), run_id)

        self._offer(run_id, "timer", effect.timer, fire)

    def _decide_later(self, run_id: str, effect: ask.AskApproval) -> None:
        generation = effect.subject["generation"]
        timer = f"approval:{generation}:{effect.path}"
        decision = self.script.decision(effect.path, generation)

        def decide() -> bool:
            if decision == "expire":
                return self.post(on.TimerFired(at_ms=effect.expires_ms, timer=timer), run_id)
            self._open[run_id, timer] = Choice(run_id, "expiry", timer, bool)
            decided = on.ApprovalDecided(
                at_ms=min(self.now_ms, effect.expires_ms - 1),
                path=effect.path,
                approved=decision == "approve",
                by="ann",
                subject_hash=effect.subject_hash,
            )
            if self.post(decided, run_id):
                return True
            del self._open[run_id, timer]
            return False

        self._offer(run_id, "decision", timer, decide)

    def _finished(self, run_id: str, path: str, effect: ask.Finish) -> on.ChildFinished:
        return on.ChildFinished(
            at_ms=self.now_ms,
            path=path,
            child_run_id=run_id,
            outcome=effect.outcome,
            outputs=effect.outputs,
            failure=effect.failure,
            usage=effect.usage,
        )


def failure(category: Any, attempt: int = 0) -> on.Failure:
    return on.Failure(category=category, code=f"{category}_trouble", message=f"No. {attempt}")


def replay(plan: Plan, events: list[on.AnyEvent], run_id: str = MAIN) -> Run:
    run = fresh(run_id, plan, "hash")
    for event in events:
        run = advance(run, event).run
    return run
