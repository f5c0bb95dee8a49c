"""What a test run was missing, read from its output. Pure.

A run that misses a program or a package says nothing about the code, and no agent can mend it. The
line between that and a test that imports what is still to be written is drawn by the repository's
own words: a Python module is missing from the *environment* when the repository declares it
somewhere or contains it; a module that nobody has heard of is a failing test.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

import msgspec

# Each is looked for among all files of the repository.
MOST_LOOKED_UP = 20
MOST_NAMED = 8
NOT_FOUND = 127
# Text in which a repository names what it needs.
DECLARING = (
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "tox.ini",
    "noxfile.py",
    "Pipfile",
    "environment.yml",
    "Makefile",
)
_REQUIREMENTS = re.compile(
    r"(^|/)[\w.-]*(requirements|constraints)[\w.-]*\.(txt|in)$|^requirements/"
)
# Distributions that are imported by another name.
_ALIASES = {
    "yaml": "pyyaml",
    "attr": "attrs",
    "dateutil": "dateutil",
    "PIL": "pillow",
    "bs4": "beautifulsoup4",
    "sklearn": "scikit-learn",
    "cv2": "opencv",
    "Crypto": "pycrypto",
    "dotenv": "python-dotenv",
    "jwt": "pyjwt",
    "OpenSSL": "pyopenssl",
    "pkg_resources": "setuptools",
}
# Fixtures whose absence means that a plugin is.
_FIXTURES = {
    "mocker": "pytest-mock",
    "benchmark": "pytest-benchmark",
    "httpbin": "pytest-httpbin",
    "requests_mock": "requests-mock",
    "httpx_mock": "pytest-httpx",
    "freezer": "pytest-freezer",
    "event_loop": "pytest-asyncio",
    "subtests": "pytest-subtests",
    "aiohttp_client": "pytest-aiohttp",
}


class Missing(msgspec.Struct, frozen=True, kw_only=True):
    """`what` is a noun with its name: `the Python module requests`."""

    what: str
    name: str
    hint: str


def tool(name: str) -> Missing:
    return Missing(
        what=f"the program {name}",
        name=name,
        hint=f"Install {name} where the agents' user can run it.",
    )


def python_module(name: str) -> Missing:
    return Missing(
        what=f"the Python module {name}",
        name=name,
        hint=f"Install {name} for the python3 that the sandbox finds on its PATH.",
    )


def declares(path: str) -> bool:
    """Whether a file is read for the names of dependencies."""
    return path in DECLARING or _REQUIREMENTS.search(path) is not None


_OWN_NAME = re.compile(r"^\s*name\s*=\s*[\"']?([\w.-]+)", re.MULTILINE)


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """What the repository says about itself."""

    files: Sequence[str]
    declared: str = ""
    """The text of its files that declare dependencies."""

    def needs(self, module: str) -> bool:
        """Whether a module is the repository's own or declared by it."""
        inside = (f"/{module}/__init__.py", f"/{module}.py")
        own = _OWN_NAME.search(self.declared)
        if own is not None and re.sub(r"[-.]", "_", own[1]).lower() == module.lower():
            return any(path.endswith(inside) for path in self.files)  # else it is to be written
        name = _ALIASES.get(module, module)
        pattern = re.escape(name).replace("_", "[-_.]").replace(r"\-", "[-_.]")
        if re.search(rf"(?<![A-Za-z0-9]){pattern}(?![A-Za-z0-9])", self.declared, re.IGNORECASE):
            return True
        return any(path.endswith(inside) for path in self.files)


_PYTHON = re.compile(r"(?:ModuleNotFoundError: )?No module named ['\"]?([A-Za-z_][\w.]*)")
_OPTIONS = re.compile(r"error: unrecognized arguments: ([^\n]+)")
_PLUGINS = re.compile(r"Missing required plugins?: ([^\n]+)")
_FIXTURE = re.compile(r"fixture '(\w+)' not found")
_ASYNC = re.compile(r"async def functions are not natively supported")
_NODE = re.compile(r"Cannot find (?:module|package) '([^'\n]+)'")
_SHELL = re.compile(r"(?:^|: )(?:\d+: )?([\w./@+-]+): (?:command )?not found$", re.MULTILINE)
# Of a name without a folder: it stands in one of the PATH that this user may not enter.
_HIDDEN = re.compile(r"(?:^|: )(?:\d+: )?([\w@+-]+): Permission denied$", re.MULTILINE)
_MAKE = re.compile(r"^make(?:\[\d+\])?: ([^\s:]+): No such file or directory", re.MULTILINE)
_GO = re.compile(r"no required module provides package ([^\s;]+)|cannot find package \"([^\"]+)\"")
_GO_FETCH = re.compile(r"go: ([^\s:]+): (?:module lookup disabled|[^\n]*dial tcp)")
_CARGO = re.compile(
    r"no matching package named `([^`]+)` found|failed to (?:get|download) `([^`]+)`"
)


def missing(output: str, exit_code: int | None, known: Known) -> tuple[Missing, ...]:
    """What the environment lacks, by the words of a run that did not succeed; at most a few."""
    found = [*_python(output, known), *_node(output), *_programs(output, exit_code)]
    for pattern in (_GO, _GO_FETCH, _CARGO):
        for match in pattern.finditer(output):
            name = next(group for group in match.groups() if group)
            found.append(
                Missing(what=f"the package {name}", name=name, hint=f"Fetch {name} beforehand.")
            )
    unique = {one.what: one for one in found}
    return tuple(unique.values())[:MOST_NAMED]


def _python(output: str, known: Known) -> Iterable[Missing]:
    modules = dict.fromkeys(match[1].split(".")[0] for match in _PYTHON.finditer(output))
    for module in list(modules)[:MOST_LOOKED_UP]:
        if known.needs(module):
            yield python_module(module)
    for match in _OPTIONS.finditer(output):
        options = [word for word in match[1].split() if word.startswith("-")]
        if options:
            name = options[0].split("=")[0]
            yield Missing(
                what=f"the pytest plugin that has the option {name}",
                name=name,
                hint="Install the plugins that the pytest settings of the repository name.",
            )
    plugins = [name.strip() for match in _PLUGINS.finditer(output) for name in match[1].split(",")]
    plugins += [_FIXTURES[match[1]] for match in _FIXTURE.finditer(output) if match[1] in _FIXTURES]
    plugins += ["pytest-asyncio"] if _ASYNC.search(output) else []
    for name in plugins:
        yield Missing(
            what=f"the pytest plugin {name}", name=name, hint=f"Install {name} beside pytest."
        )


def _node(output: str) -> Iterable[Missing]:
    for match in _NODE.finditer(output):
        name = match[1]
        if name.startswith((".", "/", "#", "node:")) or "\\" in name:
            continue  # a file of the repository: a failing test
        parts = PurePosixPath(name).parts
        package = "/".join(parts[:2] if name.startswith("@") else parts[:1])
        yield Missing(
            what=f"the npm package {package}",
            name=package,
            hint="Install the packages (`npm ci`) before the tests are run.",
        )


def _programs(output: str, exit_code: int | None) -> Iterable[Missing]:
    """A shell that does not find a program ends with 127; make says so and ends with 2."""
    codes = (NOT_FOUND, NOT_FOUND - 1)
    if exit_code not in codes and "Error 127" not in output and not _MAKE.search(output):
        return
    for pattern in (_SHELL, _HIDDEN, _MAKE):
        for match in pattern.finditer(output):
            name = PurePosixPath(match[1]).name
            yield tool(name)
