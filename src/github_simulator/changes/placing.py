"""Where a line comment stands: only on lines of the diff, as GitHub wants it."""

from __future__ import annotations

from typing import Any

import msgspec

from github_simulator.things.diff import find_line, find_position
from github_simulator.things.repository import Repository
from github_simulator.things.review import PullRequest
from github_simulator.world import World


class Place(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    diff_hunk: str = ""
    line: int | None = None
    side: str = "RIGHT"
    start_line: int | None = None
    start_side: str | None = None
    position: int | None = None
    subject: str = "line"


class Misplaced(msgspec.Struct, frozen=True, kw_only=True):
    """`kind`: `path`, `line`, `range`, `hunk` or `missing`."""

    kind: str
    field: str


def place(
    world: World, repository: Repository, pull: PullRequest, commit: str, asked: dict[str, Any]
) -> Place | Misplaced:
    changed = world.diffs(repository).between(pull.base_sha, commit)
    found = next((each for each in changed if each.path == asked["path"]), None)
    if found is None:
        return Misplaced(kind="path", field="path")
    if asked.get("subject_type") == "file":
        return Place(path=found.path, subject="file")
    patch = found.patch or ""
    if asked.get("line") is None:
        return _by_position(found.path, patch, asked.get("position"))
    side = asked.get("side") or "RIGHT"
    line = find_line(patch, side, asked["line"])
    if line is None:
        return Misplaced(kind="line", field="line")
    start, start_side = asked.get("start_line"), None
    if start is not None:
        start_side = asked.get("start_side") or side
        if start_side == side and start >= asked["line"]:
            return Misplaced(kind="range", field="start_line")
        first = find_line(patch, start_side, start)
        if first is None or first.at != line.at:
            return Misplaced(kind="hunk", field="start_line")
    return Place(
        path=found.path,
        diff_hunk=line.hunk,
        line=asked["line"],
        side=side,
        start_line=start,
        start_side=start_side,
        position=line.position,
    )


def _by_position(path: str, patch: str, position: int | None) -> Place | Misplaced:
    if position is None:
        return Misplaced(kind="missing", field="line")
    line = find_position(patch, position)
    if line is None:
        return Misplaced(kind="line", field="position")
    return Place(
        path=path, diff_hunk=line.hunk, line=line.number, side=line.side, position=position
    )


def in_pull(world: World, repository: Repository, pull: PullRequest, sha: str) -> bool:
    """Whether a commit belongs to the pull request."""
    git = world.git(repository)
    return git.has_commit(sha) and sha in git.log(f"{pull.base_sha}..{pull.head_sha}")
