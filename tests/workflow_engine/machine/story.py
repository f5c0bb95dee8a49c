"""A run told event by event, for tests that read like a story."""

from __future__ import annotations

from typing import Any

from plans import foreach, plan, repeat, tool

from agent_work_orders.workflow_engine import effects as ask
from agent_work_orders.workflow_engine import events as on
from agent_work_orders.workflow_engine import run as runs
from agent_work_orders.workflow_engine.machine import advance
from agent_work_orders.workflow_engine.plan import Plan
from agent_work_orders.workflow_engine.run import Run, TaskRun

USED = on.Usage(cost_usd=1.5, input_tokens=10, output_tokens=2, turns=1)


class Story:
    """A run and everything it asked for, told event by event."""

    def __init__(self, told: Plan, inputs: dict[str, Any] | None = None) -> None:
        self.run: Run = runs.fresh("wo-1", told, "hash")
        self.asked: list[ask.AnyEffect] = []
        self.now_ms = 1_000
        submitted = on.Submitted(at_ms=1_000, plan_hash="hash", inputs=inputs or {}, order={})
        assert self.tell(submitted)

    def tell(self, event: on.AnyEvent) -> bool:
        self.now_ms += 1
        step = advance(self.run, event)
        self.asked = list(step.effects)
        changed = step.run is not self.run
        assert changed or not step.effects
        self.run = step.run
        return changed

    def task(self, path: str) -> TaskRun:
        return self.run.task(path)

    def state(self, path: str) -> str:
        return self.task(path).state

    def states(self, *paths: str) -> list[str]:
        return [self.state(path) for path in paths]

    def wait(self, path: str) -> str:
        return self.task(path).wait

    def effects(self, kind: type[Any]) -> list[Any]:
        return [effect for effect in self.asked if isinstance(effect, kind)]

    def performing(self) -> list[str]:
        return [effect.path for effect in self.effects(ask.Perform)]

    # -- answers

    def succeed(self, path: str, /, *, attempt: int | None = None, **outputs: Any) -> bool:
        return self.tell(
            on.TaskSucceeded(
                at_ms=self.now_ms,
                path=path,
                attempt=self.task(path).attempt if attempt is None else attempt,
                outputs=outputs,
                usage=USED,
            )
        )

    def fail(self, path: str, category: str = "permanent", **more: Any) -> bool:
        return self.tell(
            on.TaskFailed(
                at_ms=self.now_ms,
                path=path,
                attempt=self.task(path).attempt,
                failure=on.Failure(category=category, code="oops", message="Oops", **more),  # type: ignore[arg-type]
                usage=USED,
            )
        )

    def lose(self, path: str) -> bool:
        attempt = self.task(path).attempt
        return self.tell(on.TaskLost(at_ms=self.now_ms, path=path, attempt=attempt))

    def park(self, path: str, until_ms: int = 99_000) -> bool:
        return self.tell(
            on.TaskParked(
                at_ms=self.now_ms,
                path=path,
                attempt=self.task(path).attempt,
                reason="model_quota",
                until_ms=until_ms,
                usage=USED,
            )
        )

    def fire(self, timer: str, at_ms: int | None = None) -> bool:
        at = self.now_ms if at_ms is None else at_ms
        return self.tell(on.TimerFired(at_ms=at, timer=timer))

    def decide(self, path: str, approved: bool = True, **more: Any) -> bool:
        shown = self.task(path).gate
        given = {"subject_hash": shown.subject_hash if shown else "", "at_ms": self.now_ms, **more}
        return self.tell(on.ApprovalDecided(path=path, approved=approved, by="ann", **given))

    def child_ends(self, path: str, outcome: Any = "completed", **more: Any) -> bool:
        run_id = more.pop("run_id", f"wo-1/{path}")
        return self.tell(
            on.ChildFinished(
                at_ms=self.now_ms, path=path, child_run_id=run_id, outcome=outcome, **more
            )
        )

    # -- people

    def pause(self) -> bool:
        return self.tell(on.PauseAsked(at_ms=self.now_ms))

    def resume(self) -> bool:
        return self.tell(on.ResumeAsked(at_ms=self.now_ms))

    def cancel(self) -> bool:
        return self.tell(on.CancelAsked(at_ms=self.now_ms))

    def roll_back(self) -> bool:
        return self.tell(on.RollbackAsked(at_ms=self.now_ms))

    def retry(self, path: str | None = None) -> bool:
        return self.tell(on.RetryAsked(at_ms=self.now_ms, path=path))

    def override(self, path: str, action: Any, /, **outputs: Any) -> bool:
        return self.tell(
            on.TaskOverridden(
                at_ms=self.now_ms, path=path, action=action, by="ann", outputs=outputs
            )
        )

    def undone(self, path: str, broken: on.Failure | None = None) -> bool:
        attempt = self.task(path).tries + 1
        return self.tell(on.Undone(at_ms=self.now_ms, path=path, failure=broken, attempt=attempt))

    def prompt(self, prompt_id: str) -> bool:
        return self.tell(on.PromptReceived(at_ms=self.now_ms, prompt_id=prompt_id, text="Hey"))


def a_chain(**fields: Any) -> Story:
    return Story(plan(tool("a", **fields), tool("b", "a")))


def a_loop(**fields: Any) -> Story:
    check = tool("check", "build", with_={"before": "{{ previous.check.outputs.n | default(0) }}"})
    loop = repeat("fix", tool("build"), check, until="tasks.check.outputs.ok", **fields)
    return Story(plan(loop, tool("after", "fix")))


def turn(story: Story, index: int, ok: bool) -> None:
    story.succeed(f"fix[{index}].build")
    assert story.effects(ask.Perform)[0].input == {"before": index - 1}
    story.succeed(f"fix[{index}].check", ok=ok, n=index)


def a_fan_out(items: Any, **fields: Any) -> Story:
    each = tool("s", with_={"of": "{{ item }}", "at": "{{ index }}"})
    return Story(plan(foreach("s", items, each, **fields), tool("after", "s")))
