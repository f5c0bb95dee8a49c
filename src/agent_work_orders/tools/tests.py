"""`tests.run`: run the repository's tests and say what they are worth; `tests.require`: insist.

What is tested is a commit, checked out clean in a workspace that no agent enters: nothing that an
agent left uncommitted, ignored or outside of the tree reaches a test. What tests need to have
installed is made there by the commands of `setup`, which the workflow names.

Failing tests are a result (`passed: false`), not a failure of the task, unless `require` is set.
Tests that cannot run here for want of a program or a package are a failure of the environment, and
it is named: no agent can mend that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent_work_orders.errors import Environmental, Permanent
from agent_work_orders.test_pipeline import verdict
from agent_work_orders.test_pipeline.environment import Missing
from agent_work_orders.test_pipeline.verdict import Judgement, Reference, SuiteResult
from agent_work_orders.tools import control_run
from agent_work_orders.tools.control_run import Control
from agent_work_orders.tools.schema import fields, flag, integer, nullable, text, texts
from agent_work_orders.tools.suite_runs import Outcome, Runner
from agent_work_orders.tools.tool import JsonObject, ToolContext
from agent_work_orders.tools.workspaces import Workspace, Workspaces
from agent_work_orders.workflow_engine.catalogue import ToolInfo

# Of the whole summary: it is fed back to an agent and shown to people.
SUMMARY_CHARS = 8_000
MESSAGE_CHARS = 300
AT_BASE = "at the base"
AS_AT_BASE = "as the tests stood at the base"
_RESULT = {"type": ["object", "null"]}


class Run:
    info = ToolInfo(
        name="tests.run",
        summary="Run the tests of the order's commit, checked out clean, and judge them",
        inputs=fields(
            command=texts("The program and its arguments; found out when absent or empty"),
            setup={
                "type": "array",
                "items": {"type": "array", "items": {"type": "string"}, "minItems": 1},
                "description": "Commands to run there first, one after the other (`[[npm, ci]]`)",
            },
            at=text("Which commit to test", enum=["head", "base"], default="head"),
            require=flag("Fail the task when the tests do not pass", default=False),
            junit=text("Where the command writes a JUnit report, relative to the workspace"),
            baseline={
                **_RESULT,
                "description": "Outputs of tests.run at the base: no suite may run fewer tests",
            },
            tests_may_change=flag(
                "The request is meant to change tests: those of the base need not pass any more",
                default=False,
            ),
        ),
        outputs=fields(
            passed=flag("Whether tests ran, all passed, and none is missing"),
            found=flag("Whether there were tests to run, here or at the base"),
            verdict=text("What the run is worth", enum=["passed", "failed", "unverified", "error"]),
            exit_code=nullable(integer("The command's exit code")),
            total=integer("Cases, as far as they were counted"),
            failed=integer("Cases that failed"),
            skipped=integer("Cases that were skipped"),
            summary=text("What failed, for people and for the next attempt"),
            changes=texts("What differs from the tests of the base"),
            suites={
                "type": "array",
                "items": {"type": "object"},
                "description": "Each suite: name, command, why, verdict, reason and counts",
            },
            report=text("The report's sha256, or empty"),
            command=texts("What was run"),
        ),
        timeout_s=900.0,
    )

    def __init__(self, workspaces: Workspaces) -> None:
        self._workspaces = workspaces

    async def __call__(
        self,
        ctx: ToolContext,
        *,
        command: list[str] | None = None,
        setup: list[list[str]] | None = None,
        at: str = "head",
        require: bool = False,
        junit: str | None = None,
        baseline: JsonObject | None = None,
        tests_may_change: bool = False,
    ) -> JsonObject:
        runner = Runner(ctx, command, junit, setup)
        compared: tuple[SuiteResult, ...] = ()
        async with self._workspaces.testing(ctx) as workspace:
            at_base = at == "base" or workspace.head_sha == workspace.base_sha
            if at == "base":
                outcome = await _tested(workspace, runner, workspace.base_sha)
                judged = verdict.judge(outcome.results, (), unused=outcome.unused)
            else:
                outcome, control, compared = await _head(workspace, runner)
                judged = _judge(outcome, control, compared, baseline, tests_may_change)
        outputs = _outputs(outcome, judged, compared)
        ctx.log(
            "tests_completed",
            passed=outputs["passed"],
            verdict=judged.verdict,
            total=outputs["total"],
            failed=outputs["failed"],
        )
        if at_base and not outcome.ready:
            ctx.keep(outputs)
            raise _not_ready(outcome.results[0])
        lacking = (*outcome.tools, *(outcome.packages if at_base else ()))
        if lacking:
            ctx.keep({**outputs, "verdict": "error"})
            raise cannot_run(lacking, outcome.results)
        if require and not outputs["passed"]:
            ctx.keep(outputs)
            raise _failed(outputs)
        return outputs


async def _tested(workspace: Workspace, runner: Runner, sha: str) -> Outcome:
    await workspace.sandbox.checkout(sha)
    return await runner.run(workspace.sandbox)


async def _head(
    workspace: Workspace, runner: Runner
) -> tuple[Outcome, Control, tuple[SuiteResult, ...]]:
    """The run, what the order did to the tests, and the control run where that is needed."""
    outcome = await _tested(workspace, runner, workspace.head_sha)
    control = await control_run.plan(workspace, runner.command)
    failing = any(result.verdict in ("failed", "error") for result in outcome.results)
    if not control.needed or failing:
        return outcome, control, ()
    await workspace.sandbox.checkout(workspace.head_sha)
    await control_run.put_tests_of_base(workspace, control)
    done = await runner.run(workspace.sandbox, keep_as="-with-tests-of-the-base")
    return outcome, control, done.results


def _judge(
    outcome: Outcome,
    control: Control,
    compared: Sequence[SuiteResult],
    baseline: JsonObject | None,
    tests_may_change: bool,
) -> Judgement:
    ran = verdict.references(compared, AS_AT_BASE)
    known = {reference.name: reference for reference in ran}
    for reference in _of_baseline(baseline):
        seen = known.get(reference.name)
        if seen is None or seen.run < reference.run:
            known[reference.name] = reference
    return verdict.judge(
        outcome.results,
        list(known.values()),
        compared=bool(compared) or baseline is not None,
        control=compared,
        changes=control.lines(),
        tests_may_change=tests_may_change,
        unused=outcome.unused,
    )


def _of_baseline(baseline: JsonObject | None) -> list[Reference]:
    """Outputs of an earlier task; those of an older version have no suites."""
    found = []
    for suite in (baseline or {}).get("suites") or ():
        run = int(suite.get("total", 0)) - int(suite.get("skipped", 0))
        if run > 0:
            found.append(Reference(name=str(suite.get("name")), run=run, where=AT_BASE))
    return found


def _outputs(outcome: Outcome, judged: Judgement, compared: Sequence[SuiteResult]) -> JsonObject:
    results = outcome.results
    codes = [result.exit_code for result in results]
    seen = [*results, *compared]
    return {
        "passed": judged.verdict == "passed",
        "found": any(one.counts.total or one.verdict in ("failed", "error") for one in seen),
        "verdict": judged.verdict,
        "exit_code": next((code for code in codes if code != 0), 0) if codes else None,
        "total": sum(result.counts.total for result in results),
        "failed": sum(result.counts.failed for result in results),
        "skipped": sum(result.counts.skipped for result in results),
        "summary": judged.summary[:SUMMARY_CHARS],
        "changes": list(judged.changes),
        "suites": [result.as_output() for result in results],
        "report": outcome.report,
        "command": list(results[0].command) if results else [],
    }


def cannot_run(lacking: Sequence[Missing], results: Sequence[SuiteResult]) -> Environmental:
    what = ", ".join(dict.fromkeys(one.what for one in lacking))
    verb = "are" if len({one.what for one in lacking}) > 1 else "is"
    needing = next((result for result in results if result.verdict == "error"), None)
    why = f" ({needing.why})" if needing is not None else ""
    return Environmental(
        "tests_cannot_run",
        f"The tests cannot be run here: {what} {verb} missing{why}"[:MESSAGE_CHARS],
        hint=f"{lacking[0].hint} Or use agent_workflow_plan_build, which runs no tests.",
        missing=[one.name for one in lacking],
    )


def _not_ready(setup: SuiteResult) -> Environmental:
    return Environmental(
        "tests_setup_failed",
        f"The set-up of the tests failed at the base: {' '.join(setup.command)[:150]}"
        f" ({setup.reason})",
        hint="Read the test output; no agent was asked. Mend the `setup` of the task, or what it "
        "needs on this machine.",
    )


def _failed(outputs: JsonObject) -> Permanent:
    first = (outputs["summary"].splitlines() or ["they failed"])[0]
    return Permanent(
        "tests_failed",
        f"The tests did not pass: {first[:200]}",
        hint="Read the test output; retry with a prompt that says what to mend.",
    )


class Require:
    info = ToolInfo(
        name="tests.require",
        summary="Fail unless the tests that an earlier task ran have passed",
        inputs=fields(
            ("tests",),
            tests={**_RESULT, "description": "Outputs of tests.run"},
            unverified=flag("Accept that there were no tests to run", default=False),
        ),
        outputs=fields(passed=flag("Whether they passed"), summary=text("In short")),
        timeout_s=60.0,
    )

    async def __call__(
        self, ctx: ToolContext, *, tests: dict[str, Any] | None, unverified: bool = False
    ) -> JsonObject:
        given = tests or {}
        said = str(given.get("summary") or "no tests were run")
        passed = bool(given.get("passed"))
        none = given.get("verdict") == "unverified" or not given
        if passed or (none and unverified):
            return {"passed": passed, "summary": said.splitlines()[0]}
        raise _failed({"summary": said})
