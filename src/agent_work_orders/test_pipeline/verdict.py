"""What a run of tests is worth. Pure: exit codes and counts in, a verdict and its words out.

Rules: a pass needs a test that was counted and ran. Exit code and report must agree. Each suite
that ran tests before must run at least as many now, and the tests as they stood at the base must
pass too. Everything that speaks against a pass is named in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from agent_work_orders.test_pipeline.counting import NOTHING, Counts

Verdict = Literal["passed", "failed", "unverified", "error"]
# pytest's own code for "no tests were collected".
PYTEST_NONE = 5
SHOWN_FAILURES = 5


MEANT = "a request that is meant to change tests is run with the input tests_may_change"


class SuiteResult(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    command: tuple[str, ...]
    why: str
    verdict: Verdict
    reason: str
    exit_code: int | None = None
    counts: Counts = NOTHING
    counted: bool = False
    """Whether anything said how many tests there were."""
    tail: str = ""
    """The end of the output."""

    def as_output(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "command": list(self.command),
            "why": self.why,
            "verdict": self.verdict,
            "reason": self.reason,
            "exit_code": self.exit_code,
            "total": self.counts.total,
            "failed": self.counts.failed,
            "skipped": self.counts.skipped,
        }


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    verdict: Verdict
    summary: str
    changes: tuple[str, ...] = ()


class Reference(msgspec.Struct, frozen=True, kw_only=True):
    """How many tests ran in a suite before the order changed anything."""

    name: str
    run: int
    where: str
    """`at the base`, or `as the tests stood at the base`."""


def judge_suite(
    exit_code: int | None,
    counts: Counts | None,
    *,
    problem: str = "",
) -> tuple[Verdict, str]:
    """A suite alone: its verdict and why."""
    if problem:
        return "failed", problem
    none_run = counts is not None and counts.total == 0
    if exit_code == PYTEST_NONE and none_run:
        return "unverified", "no tests were run"
    if exit_code != 0:
        how = f"exit code {exit_code}" if exit_code is not None else "it was stopped"
        failed = f"{count(counts.failed)} failed" if counts is not None and counts.failed else ""
        return "failed", f"{failed} ({how})" if failed else f"the command failed ({how})"
    if counts is None:
        return "unverified", "exit code 0, but no test was counted"
    if counts.failed:
        return "failed", f"exit code 0, but {count(counts.failed)} failed by its own report"
    if none_run:
        return "unverified", "no tests were run"
    if counts.run == 0:
        return "unverified", f"all {count(counts.total)} were skipped"
    return "passed", passed_words(counts)


def passed_words(counts: Counts) -> str:
    skipped = f", {counts.skipped} skipped" if counts.skipped else ""
    return f"{count(counts.run)} passed{skipped}"


def judge(
    results: Sequence[SuiteResult],
    references: Sequence[Reference],
    *,
    compared: bool = False,
    control: Sequence[SuiteResult] | None = None,
    changes: Sequence[str] = (),
    tests_may_change: bool = False,
    unused: Sequence[str] = (),
) -> Judgement:
    """All suites together. `compared`: the references are all that ran before, so a suite that
    is not among them had no tests then, and may go without."""
    problems = fewer(results, references)
    warnings: list[str] = []
    broken = [result for result in control or () if result.verdict in ("failed", "error")]
    for result in broken:
        said = f"as the tests stood at the base, {_told(result)}"
        (warnings if tests_may_change else problems).append(said)
    differences = [*changes, *problems]
    verdict = _verdict(results, references, compared=compared, problems=bool(problems))
    lines = [*problems]
    if (problems or warnings) and changes:
        lines += [f"changed: {change}" for change in changes]
    if broken and problems:
        lines.append(MEANT)
    lines += [f"warning: {line}" for line in warnings]
    lines += _words(results, verdict)
    lines += [f"not run: {what}" for what in unused]
    return Judgement(verdict=verdict, summary="\n".join(lines), changes=tuple(differences))


def fewer(results: Sequence[SuiteResult], references: Sequence[Reference]) -> list[str]:
    """Suites that run less than before, in words."""
    now = {result.name: result for result in results}
    said = []
    for reference in references:
        result = now.get(reference.name)
        run = result.counts.run if result is not None else 0
        if run >= reference.run:
            continue
        before = f"{count(reference.run)} ran {reference.where}"
        if result is None or result.counts.total == 0:
            said.append(f"{reference.name}: {before}, none now")
        elif run == 0:
            said.append(f"{reference.name}: {before}, all are skipped now")
        else:
            skipped = f" ({result.counts.skipped} skipped)" if result.counts.skipped else ""
            said.append(f"{reference.name}: {before}, only {run} now{skipped}")
    return said


def references(results: Sequence[SuiteResult], where: str) -> list[Reference]:
    return [
        Reference(name=result.name, run=result.counts.run, where=where)
        for result in results
        if result.counts.run
    ]


def count(number: int) -> str:
    return f"{number} test" if number == 1 else f"{number} tests"


def _verdict(
    results: Sequence[SuiteResult],
    references: Sequence[Reference],
    *,
    compared: bool,
    problems: bool,
) -> Verdict:
    verdicts = {result.verdict for result in results}
    if "error" in verdicts:
        return "error"
    if problems or "failed" in verdicts:
        return "failed"
    had = {reference.name for reference in references}
    blocking = [
        result
        for result in results
        if result.verdict == "unverified" and (not compared or result.name in had)
    ]
    if "passed" not in verdicts or blocking:
        return "unverified"
    return "passed"


def _told(result: SuiteResult) -> str:
    failures = result.counts.failures[:SHOWN_FAILURES]
    if not result.counts.failed:
        return f"they do not pass: {result.reason}"
    verb = "fails" if result.counts.failed == 1 else "fail"
    names = f": {'; '.join(failures)}" if failures else ""
    return f"{count(result.counts.failed)} {verb}{names}"


def _words(results: Sequence[SuiteResult], verdict: Verdict) -> list[str]:
    """The end of the summary: per suite, what came of it."""
    if not results:
        return ["no tests were found in the repository"]
    several = len(results) > 1
    lines = []
    for result in results:
        name = f"{result.name}: " if several else ""
        lines.append(f"{name}{result.reason}")
        if result.verdict == "failed":
            lines += list(result.counts.failures)
        if verdict != "passed" and result.verdict != "passed" and result.tail:
            lines.append(result.tail)
    return lines
