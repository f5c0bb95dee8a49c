"""All commands of a repository, over our built-in ones. Pure but for the package's own files.

A repository's command wins over a built-in one of the same meaning: `plan` is also
`agent_workflow_plan`, whichever of the two names is asked for or written.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import msgspec

from agent_work_orders.command_loader.command import FOLDER, Command, is_command_file, parse
from agent_work_orders.errors import NotFound, Refused, TooLarge

COUNT_LIMIT = 500

# Names of one meaning; the first is the built-in file's.
SYNONYMS: tuple[tuple[str, ...], ...] = (
    ("plan", "agent_workflow_plan"),
    ("build", "agent_workflow_build", "agent_workflow_implement"),
    ("test", "agent_workflow_test", "agent_workflow_validate"),
)


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """A command file that cannot be used, and why."""

    path: str
    line: int
    message: str
    hint: str


class Catalogue(msgspec.Struct, frozen=True, kw_only=True):
    repository: dict[str, Command]
    problems: tuple[Problem, ...] = ()

    def get(self, name: str) -> Command:
        """By name, with or without a leading `/`. NotFound `command_unknown` with a guess; Refused
        `command_invalid` with file and line."""
        wanted = name.removeprefix("/")
        for candidate in same(wanted):
            if candidate in self.repository:
                return self.repository[candidate]
            self._refuse_broken(candidate)
        for candidate in same(wanted):
            if candidate in builtin():
                return builtin()[candidate]
        raise self._unknown(wanted)

    def all(self) -> tuple[Command, ...]:
        """What can be called: the repository's commands and the built-in ones they leave. A broken
        file hides what it was to replace."""
        broken = {problem.path for problem in self.problems}
        written = [*self.repository, *(name for name in builtin() if _paths(name) & broken)]
        hidden = {other for name in written for other in same(name)}
        left = {name: found for name, found in builtin().items() if name not in hidden}
        return tuple(sorted((self.repository | left).values(), key=lambda found: found.name))

    def names(self) -> tuple[str, ...]:
        return tuple(found.name for found in self.all())

    def _refuse_broken(self, name: str) -> None:
        """A repository that overrides a command with a broken file must hear of it."""
        for problem in self.problems:
            if problem.path == _path(name):
                raise Refused(
                    "command_invalid",
                    problem.message,
                    hint=problem.hint,
                    path=problem.path,
                    line=problem.line,
                )

    def _unknown(self, name: str) -> NotFound:
        known = [*self.names(), *(other for group in SYNONYMS for other in group)]
        close = difflib.get_close_matches(name, known, n=1)
        listed = ", ".join(f"/{known}" for known in self.names()[:30])
        meant = f"Did you mean /{close[0]}? " if close else ""
        return NotFound(
            "command_unknown",
            f"No command is called /{name}",
            hint=f"{meant}There are: {listed}.",
            field="command",
        )


def load(tree: Mapping[str, bytes]) -> Catalogue:
    """From files of the trusted base commit, `{path: content}`; other paths are ignored."""
    paths = sorted(path for path in tree if is_command_file(path))
    if len(paths) > COUNT_LIMIT:
        raise TooLarge(
            "too_many_commands",
            f"The repository has {len(paths)} command files; {COUNT_LIMIT} are allowed",
            hint="Remove the ones that are not used.",
        )
    commands: dict[str, Command] = {}
    problems: list[Problem] = []
    for path in paths:
        try:
            found = parse(path, tree[path], source="repository")
        except Refused as refused:
            line = int(refused.context["line"])
            problems.append(
                Problem(path=path, line=line, message=refused.message, hint=refused.hint)
            )
        else:
            commands[found.name] = found
    return Catalogue(repository=commands, problems=tuple(problems))


@cache
def builtin() -> dict[str, Command]:
    """The commands that ship with us."""
    folder = files("agent_work_orders.command_loader") / "builtin"
    names = (group[0] for group in SYNONYMS)
    return {
        name: parse(f"{FOLDER}/{name}.md", (folder / f"{name}.md").read_bytes(), source="builtin")
        for name in names
    }


def _path(name: str) -> str:
    return f"{FOLDER}/{name.replace(':', '/')}.md"


def _paths(name: str) -> set[str]:
    """The files that could replace a command."""
    return {_path(other) for other in same(name)}


def same(name: str) -> tuple[str, ...]:
    """The name itself first, then the others of the same meaning."""
    for group in SYNONYMS:
        if name in group:
            return (name, *(other for other in group if other != name))
    return (name,)
