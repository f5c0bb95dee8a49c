"""The control run: the order's sources, judged by the tests and settings of its base.

What decides about the tests (`test_pipeline/protection.py`) is put into a clean checkout of the
order as it stood at the base, and the suites run again.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import PurePosixPath

import msgspec

from agent_work_orders.errors import Environmental, Permanent
from agent_work_orders.repositories import comparison
from agent_work_orders.repositories.comparison import Difference, Entry
from agent_work_orders.repositories.mirror import Mirror
from agent_work_orders.sandbox_manager.sandbox import Sandbox
from agent_work_orders.test_pipeline import meddling, protection
from agent_work_orders.test_pipeline.protection import Change
from agent_work_orders.tools.suite_runs import PROGRAMS, SETTING_LIMIT_BYTES, SHORT_S
from agent_work_orders.tools.workspaces import Workspace

# Test material can be large; what is larger is not put back but said.
FILE_LIMIT_BYTES = 64 * 1024 * 1024
MOST_FILES = 5_000
# Sources that are searched for words to the runner; each costs two calls of git.
MOST_LOOKED_INTO = 300
SHOWN_CHANGES = 20
# Modules that a runner imports from the folder where it is started, before its own.
_IMPORTED = frozenset(sys.stdlib_module_names) | {
    "pytest",
    "_pytest",
    "pluggy",
    "iniconfig",
    "packaging",
    "pygments",
    "exceptiongroup",
    "tomli",
}
_CODE = (".py", ".pyc", ".so", ".js", ".cjs", ".mjs", ".jsx", ".ts", ".tsx", ".go", ".rs")
_MERGED = "package.json"


class Control(msgspec.Struct, frozen=True, kw_only=True):
    """What differs from the base, and what to do about it. None content: the path goes."""

    changes: tuple[Change, ...]
    differences: tuple[Difference, ...] = ()

    @property
    def needed(self) -> bool:
        return bool(self.changes)

    def lines(self) -> list[str]:
        shown = [_text(str(change)) for change in self.changes[:SHOWN_CHANGES]]
        more = len(self.changes) - len(shown)
        return [*shown, f"and {more} more"] if more else shown


async def plan(workspace: Workspace, command: Sequence[str] = ()) -> Control:
    """Compare the order with its base; `command` is how it is tested, if somebody said so."""
    mirror, base, head = workspace.mirror, workspace.base_sha, workspace.head_sha
    changes: list[Change] = []
    kept: list[Difference] = []
    found = [] if base == head else await comparison.differences(mirror, base, head)
    started = await _started(mirror, base, command) if found else frozenset()
    looked_into = 0
    for difference in found:
        decides = _decides(difference) or difference.path in started
        if not decides and not difference.path.endswith(meddling.CODE):
            continue
        looked_into += not decides
        if not decides and looked_into > MOST_LOOKED_INTO:
            continue
        before = await _content(mirror, difference.before)
        after = await _content(mirror, difference.after)
        if not decides:
            word = meddling.speaks_to_the_runner(difference.path, before, after)
            if not word:
                continue
            note = f"{difference.path} speaks to what runs the tests ({word})"
            changes.append(Change(path=difference.path, what="changed", note=note))
            kept.append(difference)
            continue
        same_kind = difference.before is not None and difference.after is not None
        if same_kind and protection.says_the_same(difference.path, before, after):
            if before != after:
                continue
        what = protection.what(difference.before is not None, difference.after is not None)
        changes += protection.describe(difference.path, what, before, after)
        kept.append(difference)
    if len(kept) > MOST_FILES:
        raise Permanent(
            "tests_changed_too_much",
            f"{len(kept)} files of the tests differ from the base; at most {MOST_FILES} are judged",
            hint="Split the work: one order for the tests, one for the code.",
        )
    return Control(changes=tuple(changes), differences=tuple(kept))


async def _started(mirror: Mirror, base: str, command: Sequence[str]) -> frozenset[str]:
    """Files that the base's ways to test start, whatever they are called."""
    entries = await mirror.list_tree(base, "package.json", *meddling.MAKEFILES)
    read = {
        path: await _content(mirror, Entry(mode=mode, object_id=object_id))
        for path, (mode, object_id) in entries.items()
    }
    makefile = next((read[name] for name in meddling.MAKEFILES if name in read), None)
    return meddling.started_by(read.get("package.json"), makefile, command)


async def put_tests_of_base(workspace: Workspace, control: Control) -> None:
    """Into a clean checkout of the order's head. A package.json keeps the order's dependencies."""
    rows = control.differences
    sandbox, mirror = workspace.sandbox, workspace.mirror
    await _each(sandbox, ["rm", "-rf", "--"], [one.path for one in rows])
    programs, links = [], []
    for one in rows:
        entry = one.before
        if entry is None:
            continue
        content = await mirror.head_of(entry.object_id, FILE_LIMIT_BYTES)
        if entry.mode == comparison.LINK_MODE:
            links.append((one.path, content.decode("utf-8", "surrogateescape")))
        elif entry.mode in comparison.FILE_MODES:
            if PurePosixPath(one.path).name == _MERGED and one.after is not None:
                head = await _content(mirror, one.after)
                content = protection.merged_package(content, head) or content
            await sandbox.write_file(one.path, content)
            programs += [one.path] if entry.mode == comparison.PROGRAM_MODE else []
    await _each(sandbox, ["chmod", "+x", "--"], programs)
    for path, target in links:
        await _done(sandbox, ["ln", "-sfn", "--", target, path])


async def _each(sandbox: Sandbox, argv: list[str], paths: Sequence[str]) -> None:
    if paths:
        names = "\0".join(paths).encode("utf-8", "surrogateescape")
        await _done(sandbox, ["xargs", "-0", *argv], stdin=names)


async def _done(sandbox: Sandbox, argv: list[str], stdin: bytes = b"") -> None:
    done = await sandbox.execute(argv, stdin=stdin, timeout_s=SHORT_S)
    if not done.success:
        said = done.stderr.decode("utf-8", "replace").strip()[:200]
        raise Environmental(
            "tests_not_put_back",
            f"The tests of the base could not be put into the workspace: {said}",
            hint="Retry; the workspace is made anew.",
        )


async def _content(mirror: Mirror, entry: Entry | None) -> bytes | None:
    if entry is None or entry.mode not in (*comparison.FILE_MODES, comparison.LINK_MODE):
        return None
    return await mirror.head_of(entry.object_id, SETTING_LIMIT_BYTES)


def _decides(difference: Difference) -> bool:
    if protection.is_protected(difference.path) or protection.is_dependency(difference.path):
        return True
    return difference.before is None and _hides(difference.path)


def _hides(path: str) -> bool:
    """Whether a new file would be used in place of a runner, or of what it is made of."""
    first = PurePosixPath(path).parts[0]
    module = re.sub(r"\.(py|pyc|so|.*\.so)$", "", first)
    if module in _IMPORTED and (first != module or path.endswith(_CODE)):
        return True
    return path.startswith("node_modules/.bin/") and PurePosixPath(path).name in PROGRAMS


def _text(line: str) -> str:
    """Names that are no text become text that can be shown."""
    return line.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
