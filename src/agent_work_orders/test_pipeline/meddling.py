"""Files that decide about tests without looking like it. Pure.

A test command may start a script of any name, and a source file may speak to the runner that tests
it. Both are judges that an agent could bribe: they are put back as they stood at the base, too.
This finds what is written plainly; who hides it better is not found, and SECURITY.md says so.
"""

from __future__ import annotations

import json
import posixpath
import re
import shlex
from collections.abc import Iterable, Iterator

MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_TARGETS = ("test", "tests", "check", "verify")
_INTERPRETERS = re.compile(
    r"(?:python[0-9.]*|node|deno|bun|tsx|ts-node|ruby|perl|php|bash|sh|dash|zsh|make)$"
)
# They start another command, whose words follow.
_STARTERS = {"env", "time", "exec", "npx", "command", "nice", "timeout", "xvfb-run", "c8", "nyc"}
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
_RULE = re.compile(r"^([A-Za-z0-9_. /%-]+?)\s*::?(?!=)\s*(.*)$")
_INCLUDE = re.compile(r"^\s*[-s]?include\s+(.+)$")
_MOST = 200

# Words with which a source file speaks to what tests it. A file that had them before may keep them.
_SPEAKS = re.compile(
    rb"junitxml|PYTEST_|\bpytest_\w+\s*\(|\b_pytest\b|\bload_tests\b|\bTestCase\.\w+\s*="
    rb"|\bTestResult\b|modules(?:\.get)?[\[(]\s*['\"](?:_?pytest|unittest)|\bos\._exit\b"
    rb"|\bJEST_WORKER_ID\b|\bVITEST\b|\bNODE_TEST_CONTEXT\b|['\"]node:test['\"]"
)
CODE = (".py", ".js", ".cjs", ".mjs", ".jsx", ".ts", ".cts", ".mts", ".tsx", ".sh", ".rb", ".go")


def speaks_to_the_runner(path: str, before: bytes | None, after: bytes | None) -> str:
    """The first word that is new in the file; empty when there is none."""
    if not path.endswith(CODE) or after is None:
        return ""
    known = set(_SPEAKS.findall(before or b""))
    found = next((match[0] for match in _SPEAKS.finditer(after) if match[0] not in known), b"")
    return found.decode("ascii", "replace").strip(" (=[")


def started_by(
    package: bytes | None, makefile: bytes | None, command: Iterable[str]
) -> frozenset[str]:
    """Paths that the base's ways to test start or include, as they are written there."""
    lines = [*_scripts(package), *_recipes(makefile), shlex.join(command)]
    found = (path for line in lines for path in _started(line))
    return frozenset(sorted({posixpath.normpath(path) for path in found})[:_MOST])


def _scripts(package: bytes | None) -> Iterator[str]:
    """The test script and those around it and called by it."""
    try:
        document = json.loads(package or b"")
    except (ValueError, RecursionError):
        return
    scripts = document.get("scripts") if isinstance(document, dict) else None
    if not isinstance(scripts, dict):
        return
    wanted, seen = ["pretest", "test", "posttest"], set[str]()
    while wanted:
        name = wanted.pop()
        text = scripts.get(name)
        if name in seen or not isinstance(text, str):
            continue
        seen.add(name)
        yield text
        wanted += [other for other in scripts if re.search(rf"\b{re.escape(other)}\b", text)]


def _recipes(makefile: bytes | None) -> Iterator[str]:
    """Included files, and the recipes of the targets that test, with what these need."""
    text = (makefile or b"").decode("utf-8", "replace").replace("\\\n", " ")
    rules: dict[str, tuple[list[str], list[str]]] = {}
    current: list[tuple[list[str], list[str]]] = []
    for line in text.splitlines():
        if (included := _INCLUDE.match(line)) is not None:
            yield from (f"sh {word}" for word in included[1].split())
        elif line.startswith("\t"):
            for _, recipe in current:
                recipe.append(line.strip().lstrip("@-+ "))
        elif (rule := _RULE.match(line)) is not None:
            needs, _, inline = rule[2].partition(";")
            current = [rules.setdefault(name, ([], [])) for name in rule[1].split()]
            for needed, recipe in current:
                needed += needs.split()
                recipe += [inline.strip()] if inline.strip() else []
    wanted, seen = list(_TARGETS), set[str]()
    while wanted:
        name = wanted.pop()
        if name in rules and name not in seen:
            seen.add(name)
            wanted += rules[name][0]
            yield from rules[name][1]


def _started(line: str) -> Iterator[str]:
    for part in re.split(r"&&|\|\||[;|&\n]", line):
        try:
            words = shlex.split(part)
        except ValueError:
            words = part.split()
        while words and (_ASSIGNED.match(words[0]) or words[0] in _STARTERS):
            words = words[1:]
        if not words:
            continue
        first, rest = words[0], words[1:]
        if _INTERPRETERS.search(first):
            yield from _argument(rest)
        elif "/" in first and not first.startswith(("/", "$", "~")):
            yield first


def _argument(words: list[str]) -> Iterator[str]:
    """What an interpreter is given: a module, or its first argument that is no option."""
    for at, word in enumerate(words):
        if word == "-m" and at + 1 < len(words):
            path = words[at + 1].replace(".", "/")
            yield from (f"{path}.py", f"{path}/__main__.py")
            return
        if not word.startswith("-"):
            if not word.startswith(("/", "$", "~")):
                yield word
            return
