"""How many tests a run had, read from what its runner printed. Pure: text in, counts out.

A report that the runner wrote is better evidence and is read by `junit.py`; this is for runners
whose command is the repository's own (`npm test`, `make test`) or that have no report. Every
summary in the output is added up, because one command may run several runners. What no reader here
knows is not counted: `None`, never a guess.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import msgspec

from agent_work_orders.test_pipeline import junit

# Summaries stand at the end; a program that prints without end costs no more than this.
READ_CHARS = 4 * 1024 * 1024
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    total: int
    failed: int = 0
    skipped: int = 0
    failures: tuple[str, ...] = ()
    """The first few, for people."""

    @property
    def run(self) -> int:
        """Tests whose body ran, whatever came of it."""
        return self.total - self.skipped

    def plus(self, other: Counts) -> Counts:
        return Counts(
            total=self.total + other.total,
            failed=self.failed + other.failed,
            skipped=self.skipped + other.skipped,
            failures=(self.failures + other.failures)[: junit.SHOWN_FAILURES],
        )


NOTHING = Counts(total=0)


def from_report(content: bytes) -> Counts:
    """Raises `junit.Unreadable`."""
    report = junit.read(content)
    return Counts(
        total=report.total,
        failed=report.failed,
        skipped=report.skipped,
        failures=report.failures,
    )


def from_output(output: str) -> Counts | None:
    """The counts that runners said; None when none of them said anything."""
    text = _COLOUR.sub("", output[-READ_CHARS:]).replace("\r\n", "\n")
    found = [counts for reader in _READERS if (counts := reader(text)) is not None]
    if not found:
        return None
    total = NOTHING
    for counts in found:
        total = total.plus(counts)
    return total


def _sum(parts: list[Counts]) -> Counts | None:
    if not parts:
        return None
    total = NOTHING
    for part in parts:
        total = total.plus(part)
    return total


def _numbers(text: str) -> dict[str, int]:
    """`2 failed, 6 passed` as a mapping."""
    return {word: int(number) for number, word in re.findall(r"(\d+) ([a-z]+)", text)}


# -- Python

_UNITTEST = re.compile(
    r"^Ran (\d+) tests? in [^\n]*\n+(?:(OK|FAILED|NO TESTS RAN)(?: \(([^)\n]*)\))?)?", re.MULTILINE
)
_UNITTEST_FAILED = re.compile(r"^(?:FAIL|ERROR): (\S+ \([^)\n]*\))", re.MULTILINE)


def _unittest(text: str) -> Counts | None:
    parts = []
    for found in _UNITTEST.finditer(text):
        said = {
            name.strip(): int(number)
            for name, _, number in (part.partition("=") for part in (found[3] or "").split(","))
            if number.isdigit()
        }
        # A module that cannot be imported is one failed test of the loader and counted in `Ran`.
        failed = sum(said.get(name, 0) for name in ("failures", "errors", "unexpected successes"))
        # As pytest's reports have it: a failure that was expected is no evidence of anything.
        skipped = said.get("skipped", 0) + said.get("expected failures", 0)
        total = max(int(found[1]), failed)
        parts.append(Counts(total=total, failed=failed, skipped=min(skipped, total)))
    counts = _sum(parts)
    if counts is None:
        return None
    names = tuple(_UNITTEST_FAILED.findall(text)[: junit.SHOWN_FAILURES])
    return msgspec.structs.replace(counts, failures=names)


_PYTEST = re.compile(
    r"^(?:=+ )?((?:\d+ (?:failed|passed|skipped|deselected|xfailed|xpassed|errors?|warnings?)"
    r"(?:, )?)+|no tests ran) in [\d.]+s",
    re.MULTILINE,
)
_PYTEST_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S[^\n]*)", re.MULTILINE)


def _pytest(text: str) -> Counts | None:
    parts = []
    for found in _PYTEST.finditer(text):
        said = _numbers(found[1])
        errors = said.get("error", 0) + said.get("errors", 0)
        failed = said.get("failed", 0) + errors
        skipped = said.get("skipped", 0) + said.get("xfailed", 0)
        passed = said.get("passed", 0) + said.get("xpassed", 0)
        parts.append(Counts(total=failed + skipped + passed, failed=failed, skipped=skipped))
    counts = _sum(parts)
    if counts is None:
        return None
    names = tuple(_PYTEST_FAILED.findall(text)[: junit.SHOWN_FAILURES])
    return msgspec.structs.replace(counts, failures=names)


# -- JavaScript

_JEST = re.compile(r"^Tests:\s+([^\n]*?\b(\d+) total)\s*$", re.MULTILINE)
_JEST_SUITES = re.compile(r"^Test Suites:\s+(?:(\d+) failed, )?", re.MULTILINE)


def _jest(text: str) -> Counts | None:
    """A suite that cannot be loaded fails without a test of its own."""
    parts = []
    for found in _JEST.finditer(text):
        said = _numbers(found[1])
        skipped = said.get("skipped", 0) + said.get("todo", 0)
        parts.append(Counts(total=int(found[2]), failed=said.get("failed", 0), skipped=skipped))
    counts = _sum(parts)
    if counts is None:
        return None
    broken = sum(int(found[1] or 0) for found in _JEST_SUITES.finditer(text))
    if broken and not counts.failed:
        counts = counts.plus(Counts(total=broken, failed=broken))
    return counts


_VITEST = re.compile(r"^\s*Tests\s+([^\n]*?)\((\d+)\)\s*$", re.MULTILINE)


def _vitest(text: str) -> Counts | None:
    parts = []
    for found in _VITEST.finditer(text):
        said = _numbers(found[1])
        skipped = said.get("skipped", 0) + said.get("todo", 0)
        parts.append(Counts(total=int(found[2]), failed=said.get("failed", 0), skipped=skipped))
    return _sum(parts)


_MOCHA = re.compile(
    r"^ *(\d+) passing \([^)\n]*\)$(?:\n+ *(\d+) pending$)?(?:\n+ *(\d+) failing$)?", re.MULTILINE
)


def _mocha(text: str) -> Counts | None:
    parts = []
    for found in _MOCHA.finditer(text):
        passed, skipped, failed = (int(found[group] or 0) for group in (1, 2, 3))
        total = passed + skipped + failed
        parts.append(Counts(total=total, failed=failed, skipped=skipped))
    return _sum(parts)


_AVA_LINE = re.compile(r"^ +(\d+) tests? (passed|failed|skipped|todo)$", re.MULTILINE)


def _ava(text: str) -> Counts | None:
    said: dict[str, int] = {}
    for found in _AVA_LINE.finditer(text):
        said[found[2]] = said.get(found[2], 0) + int(found[1])
    if not said:
        return None
    skipped = said.get("skipped", 0) + said.get("todo", 0)
    failed = said.get("failed", 0)
    return Counts(total=said.get("passed", 0) + failed + skipped, failed=failed, skipped=skipped)


_UVU = re.compile(r"^ +Total: +(\d+)\n +Passed: +(\d+)\n +Skipped: +(\d+)$", re.MULTILINE)


def _uvu(text: str) -> Counts | None:
    parts = []
    for found in _UVU.finditer(text):
        total, passed, skipped = (int(found[group]) for group in (1, 2, 3))
        # Its total leaves the skipped ones out.
        parts.append(Counts(total=total + skipped, failed=max(0, total - passed), skipped=skipped))
    return _sum(parts)


_NODE = re.compile(r"^[#ℹ] (tests|pass|fail|cancelled|skipped|todo|ok) +(\d+)\s*$", re.MULTILINE)


def _node(text: str) -> Counts | None:
    """The closing lines of `node --test` (TAP or spec) and of tape: each `tests` begins one."""
    parts: list[dict[str, int]] = []
    for found in _NODE.finditer(text):
        if found[1] == "tests":
            parts.append({})
        if parts:
            parts[-1].setdefault(found[1], int(found[2]))
    return _sum(
        [
            Counts(
                total=said["tests"],
                failed=said.get("fail", 0) + said.get("cancelled", 0),
                skipped=min(said["tests"], said.get("skipped", 0) + said.get("todo", 0)),
            )
            for said in parts
        ]
    )


_TAP = re.compile(r"^(not )?ok\b(?: +\d+)?([^\n]*)$", re.MULTILINE)
_TAP_PLAN = re.compile(r"^1\.\.\d+", re.MULTILINE)


def _tap(text: str) -> Counts | None:
    """Plain TAP, where no closing lines say it."""
    if _NODE.search(text) or not _TAP_PLAN.search(text):
        return None
    total = failed = skipped = 0
    failures = []
    for found in _TAP.finditer(text):
        total += 1
        aside = re.search(r"#\s*(skip|todo)", found[2], re.IGNORECASE)
        if aside:
            skipped += 1
        elif found[1]:
            failed += 1
            failures.append(found[2].strip(" -")[: junit.SHOWN_CHARS])
    shown = tuple(failures[: junit.SHOWN_FAILURES])
    return Counts(total=total, failed=failed, skipped=skipped, failures=shown)


# -- Go and Rust


def _go_events(text: str) -> Counts | None:
    """`go test -json`: a test that began and has no end was cut off, so it failed."""
    state: dict[tuple[str, str], str] = {}
    broken: list[str] = []
    seen = False
    for line in text.splitlines():
        if not line.startswith('{"') or '"Action"' not in line:
            continue
        try:
            event = json.loads(line)
        except ValueError:
            continue
        action, package = str(event.get("Action")), str(event.get("Package", ""))
        seen = True
        if action == "build-fail":
            broken.append(str(event.get("ImportPath", "")).split(" ")[0])
        elif "Test" in event and action in ("run", "pass", "fail", "skip"):
            state[package, str(event["Test"])] = action
    if not seen:
        return None
    failures = [f"{package}.{test}" for (package, test), end in state.items() if end in _GO_BAD]
    failed = failures + [f"{path}: does not build" for path in broken]
    return Counts(
        total=len(state) + len(broken),
        failed=len(failed),
        skipped=sum(end == "skip" for end in state.values()),
        failures=tuple(failed[: junit.SHOWN_FAILURES]),
    )


_GO_BAD = ("run", "fail")
_GO_CASE = re.compile(r"^\s*--- (PASS|FAIL|SKIP): (\S+)", re.MULTILINE)
_GO_PACKAGE = re.compile(r"^(ok  |FAIL)\t(\S+)\t(?![^\n]*\[no tests to run\])", re.MULTILINE)


def _go_text(text: str) -> Counts | None:
    """`go test` without `-json`: cases with `-v`; otherwise a package that is `ok` has at least
    one test, and no more is known."""
    cases = _GO_CASE.findall(text)
    packages = _GO_PACKAGE.findall(text)
    if not packages:
        return None
    if any(end != "FAIL" for end, _ in cases):
        failures = tuple(name for end, name in cases if end == "FAIL")
        skipped = sum(end == "SKIP" for end, _ in cases)
        return Counts(
            total=len(cases),
            failed=len(failures),
            skipped=skipped,
            failures=failures[: junit.SHOWN_FAILURES],
        )
    failures = tuple(name for end, name in packages if end == "FAIL")
    return Counts(
        total=len(packages), failed=len(failures), failures=failures[: junit.SHOWN_FAILURES]
    )


_CARGO = re.compile(
    r"^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored;", re.MULTILINE
)
_CARGO_FAILED = re.compile(r"^test (\S.*) \.\.\. FAILED$", re.MULTILINE)


def _cargo(text: str) -> Counts | None:
    parts = []
    for found in _CARGO.finditer(text):
        passed, failed, ignored = (int(found[group]) for group in (1, 2, 3))
        parts.append(Counts(total=passed + failed + ignored, failed=failed, skipped=ignored))
    counts = _sum(parts)
    if counts is None:
        return None
    names = tuple(_CARGO_FAILED.findall(text)[: junit.SHOWN_FAILURES])
    return msgspec.structs.replace(counts, failures=names)


_READERS: tuple[Callable[[str], Counts | None], ...] = (
    _unittest,
    _pytest,
    _jest,
    _vitest,
    _mocha,
    _ava,
    _uvu,
    _node,
    _tap,
    _go_events,
    _go_text,
    _cargo,
)
