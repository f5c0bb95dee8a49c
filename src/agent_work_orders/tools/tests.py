"""`tests.run`: run the repository's tests and say what came of it.

Failing tests are a result (`passed: false`), not a failure of the task, unless `require` is set.
Exit code and report must agree; where they do not, the tests did not pass.
"""

from __future__ import annotations

import hashlib
import json
import re

from agent_work_orders.errors import Permanent, Refused
from agent_work_orders.sandbox_manager.sandbox import Execution, Sandbox
from agent_work_orders.tools import junit
from agent_work_orders.tools.sandbox import check_command, shown
from agent_work_orders.tools.schema import fields, flag, integer, nullable, text, texts
from agent_work_orders.tools.tool import JsonObject, ToolContext
from agent_work_orders.tools.workspaces import Workspace, Workspaces
from agent_work_orders.workflow_engine.catalogue import ToolInfo

SUMMARY_CHARS = 4_000
# pytest's own code for "no tests were collected".
PYTEST_NONE = 5
_UNITTEST = re.compile(r"^Ran (\d+) tests? in ", re.MULTILINE)


class Run:
    info = ToolInfo(
        name="tests.run",
        summary="Run the repository's tests in the workspace",
        inputs=fields(
            command=texts("The program and its arguments; found out when absent or empty"),
            at=text("Which commit to test", enum=["head", "base"], default="head"),
            require=flag("Fail the task when the tests do not pass", default=False),
            junit=text("Where the command writes a JUnit report, relative to the workspace"),
        ),
        outputs=fields(
            passed=flag("Whether tests ran and all passed"),
            found=flag("Whether there were tests to run"),
            exit_code=nullable(integer("The command's exit code")),
            total=integer("Cases, when a report says so"),
            failed=integer("Cases that failed"),
            skipped=integer("Cases that were skipped"),
            summary=text("What failed, for people and for the next attempt"),
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
        at: str = "head",
        require: bool = False,
        junit: str | None = None,
    ) -> JsonObject:
        if at == "base":
            async with self._workspaces.own(ctx) as workspace:
                workspace.spoiled = True
                await workspace.sandbox.checkout(workspace.base_sha)
                try:
                    outputs = await self._test(ctx, workspace, command, junit)
                finally:
                    await workspace.reset()
        else:
            async with self._workspaces.share(ctx) as workspace:
                outputs = await self._test(ctx, workspace, command, junit)
        ctx.log("tests_completed", passed=outputs["passed"], failed=outputs["failed"])
        if require and not outputs["passed"]:
            ctx.keep(outputs)
            raise Permanent(
                "tests_failed",
                f"The tests did not pass: {outputs['summary'].splitlines()[0][:200]}",
                hint="Read the test output; retry with a prompt that says what to mend.",
            )
        return outputs

    async def _test(
        self, ctx: ToolContext, workspace: Workspace, command: list[str] | None, report: str | None
    ) -> JsonObject:
        sandbox = workspace.sandbox
        private = ""
        if not command:
            # Outside the workspace, one per task: nothing to commit, nothing to share.
            name = f"junit-{hashlib.sha256(ctx.key.encode()).hexdigest()[:16]}.xml"
            private = await sandbox.put_private(name, b"")
            command, reports = await detect(sandbox, private)
            private = private if reports else ""
        if command is None:
            return _nothing()
        check_command(command, {})
        before = await _read(sandbox, report)
        done = await sandbox.execute(command, timeout_s=ctx.timeout_s)
        ctx.artifact("test-output.txt", done.stdout + b"\n" + done.stderr)
        if done.ended == "timed_out":
            tail = _tail(done)
            ctx.keep({**_nothing(), "found": True, "summary": tail, "command": command})
            raise Permanent(
                "tests_timeout",
                f"The tests took longer than {ctx.timeout_s:g} s and were stopped",
                hint="Give the task a larger `timeout`, or find the test that hangs.",
            )
        content = await (_take(sandbox, private) if private else _read(sandbox, report))
        if content == before:
            content = None  # committed, or left by another run: not this one's
        kept = "" if content is None else ctx.artifact("junit.xml", content, "application/xml")
        expected = bool(private) or report is not None
        return judge(done, content, expected=expected, report=kept, command=command)


async def detect(sandbox: Sandbox, report: str) -> tuple[list[str] | None, bool]:
    """The test command of the workspace by its files, and whether it will write `report`."""
    package = await _read(sandbox, "package.json")
    if package is not None and _has_test_script(package):
        return ["npm", "test", "--silent"], False
    if await _read(sandbox, "go.mod") is not None:
        return ["go", "test", "./..."], False
    if await _read(sandbox, "Cargo.toml") is not None:
        return ["cargo", "test"], False
    names = ("pyproject.toml", "pytest.ini", "setup.cfg", "tox.ini", "setup.py", "conftest.py")
    found = [name for name in names if await _read(sandbox, name) is not None]
    listed = await sandbox.execute(
        ["find", ".", "-maxdepth", "3", "-name", "test_*.py", "-not", "-path", "./.git/*"],
        timeout_s=60.0,
    )
    if not listed.stdout.strip() and not (found and await _has(sandbox, "tests")):
        return None, False
    probe = await sandbox.execute(["python3", "-c", "import pytest"], timeout_s=60.0)
    if probe.success:
        options = ["-q", "-p", "no:cacheprovider", f"--junitxml={report}"]
        return ["python3", "-B", "-m", "pytest", *options], True
    top = "tests" if await _has(sandbox, "tests") else "."
    return ["python3", "-B", "-m", "unittest", "discover", "-s", top, "-t", "."], False


def judge(
    done: Execution, content: bytes | None, *, expected: bool, report: str, command: list[str]
) -> JsonObject:
    """Exit code and report together. A report that should be there and is not is an error."""
    outputs: JsonObject = {
        "exit_code": done.exit_code,
        "total": 0,
        "failed": 0,
        "skipped": 0,
        "report": report,
        "command": command,
        "found": True,
    }
    tail = _tail(done)
    counted: junit.Report | None = None
    problem = ""
    if content is not None:
        try:
            counted = junit.read(content)
        except junit.Unreadable as error:
            problem = str(error)
    elif expected:
        problem = "the test run left no report"
    if counted is None and (ran := _UNITTEST.search(tail)) is not None:
        outputs["total"] = int(ran[1])
    if counted is not None:
        outputs |= {"total": counted.total, "failed": counted.failed, "skipped": counted.skipped}
        if done.success and counted.failed:
            problem = f"exit code 0, but the report has {counted.failed} failed cases"
    none_run = _ran_none(done, counted, tail)
    passed = done.success and not problem and not none_run
    lines = [problem] if problem else []
    lines += list(counted.failures) if counted is not None else []
    summary = "all tests passed" if passed else "\n".join([*lines, tail]).strip()
    if none_run:
        summary = "no tests were run"
    return {**outputs, "passed": passed, "found": not none_run, "summary": summary or "failed"}


def _tail(done: Execution) -> str:
    return (shown(done.stdout) + "\n" + shown(done.stderr)).strip()[-SUMMARY_CHARS:]


def _ran_none(done: Execution, counted: junit.Report | None, tail: str) -> bool:
    if counted is not None:
        return counted.total == 0 and done.exit_code in (0, PYTEST_NONE)
    ran = _UNITTEST.search(tail)
    return ran is not None and ran[1] == "0" and done.exit_code in (0, PYTEST_NONE)


def _nothing() -> JsonObject:
    return {
        "passed": False,
        "found": False,
        "exit_code": None,
        "total": 0,
        "failed": 0,
        "skipped": 0,
        "summary": "no tests were found in the repository",
        "report": "",
        "command": [],
    }


def _has_test_script(package: bytes) -> bool:
    try:
        scripts = json.loads(package).get("scripts", {})
    except (ValueError, AttributeError, RecursionError):
        return False
    script = scripts.get("test", "") if isinstance(scripts, dict) else ""
    return bool(script) and "no test specified" not in str(script)


async def _read(sandbox: Sandbox, path: str | None) -> bytes | None:
    if path is None:
        return None
    try:
        return await sandbox.read_file(path, limit_bytes=junit.LIMIT_BYTES)
    except Refused:
        return None


async def _take(sandbox: Sandbox, path: str) -> bytes | None:
    """A private file's content, None when nothing was written; the file goes."""
    done = await sandbox.execute(["cat", "--", path], timeout_s=30.0)
    await sandbox.execute(["rm", "-rf", "--", path], timeout_s=30.0)
    return done.stdout if done.success and done.stdout and not done.truncated else None


async def _has(sandbox: Sandbox, path: str) -> bool:
    return (await sandbox.execute(["test", "-d", path], timeout_s=30.0)).success
