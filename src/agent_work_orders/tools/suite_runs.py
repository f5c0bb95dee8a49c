"""Running the suites of a clean checkout: what is there, what is missing, what came of each.

Rules: tests start with a home and temporary files of their own, whatever ran there before; one
suite after the other; the time of the task is shared by all of them and by the set-up.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import msgspec

from agent_work_orders.errors import Environmental, Permanent, Refused
from agent_work_orders.sandbox_manager.git_steps import IDENTITY
from agent_work_orders.sandbox_manager.sandbox import Execution, Sandbox
from agent_work_orders.test_pipeline import counting, detection, environment, junit
from agent_work_orders.test_pipeline.counting import Counts
from agent_work_orders.test_pipeline.detection import Found, Repository, Suite
from agent_work_orders.test_pipeline.environment import Missing
from agent_work_orders.test_pipeline.verdict import SuiteResult, judge_suite
from agent_work_orders.tools.sandbox import check_command, end_of_output
from agent_work_orders.tools.tool import ToolContext

TAIL_CHARS = 4_000
# Settings and manifests; one that is larger than this was not written by people.
SETTING_LIMIT_BYTES = 1024 * 1024
MOST_DECLARING = 40
SHORT_S = 60.0
# What a runner is started through, where a package's folder of programs comes first on the PATH.
PROGRAMS = ("node", "npm", "npx", "sh", "bash", "env", "python", "python3", "make")
# A new home under a name that nobody could know before; then every file outside of dependency
# folders, and programs that hide others.
_PRUNED = " -o ".join(f"-name {name}" for name in detection.DEPENDENCY_FOLDERS)
_HIDING = " -o ".join(f"-name {name}" for name in PROGRAMS)
_PREPARE = rf"""set -e
made=$(mktemp -d)
mkdir "$made/home" "$made/compiled"
cat > "$made/home/.gitconfig"
printf '%s\0' "$made"
find . \( {_PRUNED} \) -prune -o \( -type f -o -type l \) -print0
[ ! -d node_modules/.bin ] || find ./node_modules/.bin -maxdepth 1 \( {_HIDING} \) -print0
"""


class Survey(msgspec.Struct, frozen=True, kw_only=True):
    """What a workspace holds."""

    repository: Repository
    known: environment.Known


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    survey: Survey
    results: tuple[SuiteResult, ...]
    unused: tuple[str, ...] = ()
    tools: tuple[Missing, ...] = ()
    """Programs that are not there: known before anything ran."""
    packages: tuple[Missing, ...] = ()
    """What the outputs of failed runs name as missing."""
    report: str = ""
    ready: bool = True
    """Whether the set-up succeeded; otherwise it is the only result."""


class Runner:
    """One task's runs of tests."""

    def __init__(
        self,
        ctx: ToolContext,
        command: list[str] | None,
        report: str | None,
        setup: Sequence[list[str]] | None = None,
    ) -> None:
        self._ctx = ctx
        self.command = list(command or ())
        self._setup = list(setup or ())
        self._report = report
        self._until_ms = ctx.now_ms() + int(ctx.timeout_s * 1000)
        self._env: dict[str, str] = {}

    async def run(self, sandbox: Sandbox, *, keep_as: str = "") -> Outcome:
        """All suites of the workspace as it is. Evidence is kept under names that end so."""
        for command in (*self._setup, *([self.command] if self.command else ())):
            check_command(command, {})
        survey = await self._survey(sandbox)
        for argv in self._setup:
            failed = await self._prepare(sandbox, argv, keep_as)
            if failed is not None:
                return Outcome(survey=survey, results=(failed,), ready=False)
        found = (
            Found(suites=(detection.given(self.command),))
            if self.command
            else detection.detect(survey.repository)
        )
        results: list[SuiteResult] = []
        tools: list[Missing] = []
        packages: dict[str, Missing] = {}
        said: list[bytes] = []
        kept = ""
        for suite in found.suites:
            lacking = self._lacking(suite, survey)
            done = None
            if lacking is None:
                try:
                    done, counts, problem, kept = await self._suite(sandbox, suite, keep_as)
                except Environmental as error:
                    if error.code != "executable_missing":
                        raise
                    lacking = environment.tool(suite.command[0])
            if done is None:
                assert lacking is not None
                tools.append(lacking)
                results.append(_cannot(suite, f"{lacking.what} is missing"))
                continue
            said.append(_heading(suite, found) + done.stdout + b"\n" + done.stderr)
            result = self._result(suite, done, counts, problem)
            results.append(result)
            if result.verdict == "failed":
                text = "\n".join((*result.counts.failures, _text(done)))
                lost = environment.missing(text, done.exit_code, survey.known)
                packages |= {one.what: one for one in lost}
        await self._keep(said, keep_as)
        return Outcome(
            survey=survey,
            results=tuple(results),
            unused=found.unused,
            tools=tuple(tools),
            packages=tuple(packages.values()),
            report=kept,
        )

    async def _prepare(self, sandbox: Sandbox, argv: list[str], keep_as: str) -> SuiteResult | None:
        """One command of the set-up; what came of it if it failed."""
        done = await sandbox.execute(argv, env=self._env, timeout_s=self._left_s())
        self._ctx.log("sandbox_command_executed", command=argv[0], exit_code=done.exit_code)
        if done.success:
            return None
        await self._keep([done.stdout + b"\n" + done.stderr], keep_as)
        how = f"exit code {done.exit_code}" if done.exit_code is not None else done.ended
        return SuiteResult(
            name="setup",
            command=tuple(argv),
            why="the workflow asks for it before the tests",
            verdict="error",
            reason=f"{argv[0]} failed ({how})",
            exit_code=done.exit_code,
            tail=tail(done),
        )

    # -- one suite

    async def _suite(
        self, sandbox: Sandbox, suite: Suite, keep_as: str
    ) -> tuple[Execution, Counts | None, str, str]:
        """The execution, its counts, what is wrong with its report, and the kept report."""
        private, command = "", list(suite.command)
        if suite.reports:
            # Outside the workspace, one per task: nothing to commit, nothing to share.
            name = f"junit-{hashlib.sha256(self._ctx.key.encode()).hexdigest()[:16]}.xml"
            private = await sandbox.put_private(name, b"")
            command.append(f"--junitxml={private}")
        asked = self._report if suite.runner == "command" else None
        before = await read(sandbox, asked)
        done = await sandbox.execute(
            command, env=self._env, timeout_s=self._left_s(), cwd=suite.folder
        )
        if done.ended == "timed_out":
            await self._keep([done.stdout + b"\n" + done.stderr], keep_as)
            self._ctx.keep({"found": True, "passed": False, "summary": tail(done)})
            raise Permanent(
                "tests_timeout",
                f"The tests took longer than {self._ctx.timeout_s:g} s and were stopped",
                hint="Give the task a larger `timeout`, or find the test that hangs.",
            )
        content = await (_take(sandbox, private) if private else read(sandbox, asked))
        if content == before:
            content = None  # committed, or left by another run: not this one's
        kept = ""
        if content is not None:
            kept = await self._ctx.artifact(f"junit{keep_as}.xml", content, "application/xml")
        counts, problem = _counted(done, content, expected=bool(private) or asked is not None)
        return done, counts, problem, kept

    def _result(
        self, suite: Suite, done: Execution, counts: Counts | None, problem: str
    ) -> SuiteResult:
        verdict, reason = judge_suite(done.exit_code, counts, problem=problem)
        return SuiteResult(
            name=suite.name,
            command=suite.command,
            why=suite.why,
            verdict=verdict,
            reason=reason,
            exit_code=done.exit_code,
            counts=counts or counting.NOTHING,
            counted=counts is not None,
            tail=tail(done),
        )

    def _lacking(self, suite: Suite, survey: Survey) -> Missing | None:
        if suite.runner == "pytest" and not survey.repository.has_pytest:
            return environment.python_module("pytest")
        return None

    def _left_s(self) -> float:
        return max(0.1, (self._until_ms - self._ctx.now_ms()) / 1000)

    async def _keep(self, said: list[bytes], keep_as: str) -> None:
        if said:
            await self._ctx.artifact(f"test-output{keep_as}.txt", b"\n".join(said))

    # -- the surroundings

    async def _survey(self, sandbox: Sandbox) -> Survey:
        await sandbox.empty_private()
        made = await sandbox.execute(["sh", "-c", _PREPARE], stdin=IDENTITY, timeout_s=SHORT_S)
        folder, *names = made.stdout.decode("utf-8", "surrogateescape").split("\0")
        if not made.success or not folder.startswith("/"):
            raise Environmental(
                "sandbox_setup_failed",
                f"No folder for the tests could be made: {end_of_output(made.stderr)[:200]}",
                hint="See whether the disk of the data directory is full.",
            )
        self._env = {
            "HOME": f"{folder}/home",
            "PYTHONNOUSERSITE": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            # Compiled files beside the sources may say something else than these.
            "PYTHONPYCACHEPREFIX": f"{folder}/compiled",
        }
        files = sorted(name.removeprefix("./") for name in names if name)
        contents = {}
        for path in detection.wanted(files):
            content = await read(sandbox, path, SETTING_LIMIT_BYTES)
            if content is not None:
                contents[path] = content
        repository = Repository(files=files, contents=contents)
        python = [path for path in files if detection.is_python_test(path)]
        if not self.command and (python or detection.pytest_setting(repository)):
            repository = msgspec.structs.replace(
                repository,
                pytest_style=frozenset(await _styled(sandbox, python)),
                has_pytest=await self._has_pytest(sandbox),
            )
        declared = []
        for path in [path for path in files if environment.declares(path)][:MOST_DECLARING]:
            content = await read(sandbox, path, SETTING_LIMIT_BYTES)
            declared.append((content or b"").decode("utf-8", "replace"))
        known = environment.Known(files=files, declared="\n".join(declared))
        return Survey(repository=repository, known=known)

    async def _has_pytest(self, sandbox: Sandbox) -> bool:
        # Not from the workspace, where a folder of that name would answer.
        line = "import sys; sys.path[:] = [path for path in sys.path if path]; import pytest"
        probe = ["python3", "-c", line]
        return (await sandbox.execute(probe, env=self._env, timeout_s=SHORT_S)).success


async def read(
    sandbox: Sandbox, path: str | None, limit_bytes: int = junit.LIMIT_BYTES
) -> bytes | None:
    if path is None:
        return None
    try:
        return await sandbox.read_file(path, limit_bytes=limit_bytes)
    except Refused:
        return None


async def _styled(sandbox: Sandbox, tests: Sequence[str]) -> list[str]:
    names = "\0".join(tests).encode("utf-8", "surrogateescape")
    argv = ["xargs", "-0", "-r", "grep", "-lZE", "-e", detection.PYTEST_STYLE, "--"]
    done = await sandbox.execute(argv, stdin=names, timeout_s=SHORT_S)
    return list(filter(None, done.stdout.decode("utf-8", "surrogateescape").split("\0")))


async def _take(sandbox: Sandbox, path: str) -> bytes | None:
    """A private file's content, None when nothing was written."""
    done = await sandbox.execute(["cat", "--", path], timeout_s=30.0)
    return done.stdout if done.success and done.stdout and not done.truncated else None


def _counted(
    done: Execution, content: bytes | None, *, expected: bool
) -> tuple[Counts | None, str]:
    """From the report where there should be one, otherwise from what was printed."""
    if content is not None:
        try:
            counts = counting.from_report(content)
        except junit.Unreadable as error:
            return None, str(error)
        if done.success and counts.failed:
            return counts, f"exit code 0, but the report has {counts.failed} failed cases"
        return counts, ""
    if expected:
        return None, "the test run left no report"
    return counting.from_output(_text(done)), ""


def _cannot(suite: Suite, reason: str) -> SuiteResult:
    return SuiteResult(
        name=suite.name, command=suite.command, why=suite.why, verdict="error", reason=reason
    )


def _heading(suite: Suite, found: Found) -> bytes:
    return (
        f"== {suite.name}: {' '.join(suite.command)}\n".encode() if len(found.suites) > 1 else b""
    )


def _text(done: Execution) -> str:
    return (done.stdout + b"\n" + done.stderr).decode("utf-8", "replace")


def tail(done: Execution) -> str:
    return (end_of_output(done.stdout) + "\n" + end_of_output(done.stderr)).strip()[-TAIL_CHARS:]
