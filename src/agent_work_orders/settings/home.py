"""Where the data directory is when nobody names one (decision 19).

It belongs to a repository and lies outside of it, in the user's state directory: from any folder of
the repository, and from its linked worktrees, the same one is found, and cleaning or deleting the
repository does not take the journal with it. A data directory that lies in the repository already
stays in use. Nothing here is written, and git is asked only about such an old one.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path

import msgspec

NAME = ".awo"
# Any of them was made by an owner, never by a person.
_OURS = ("journal.db", "owner.lock")
_ROOTS_STATE = Path("/var/lib/agent-work-orders/state")
_SMALL_FILE = 4_096
# Only its list of names is read: whoever owns the repository, and without a program that it names.
_GIT = ("git", "-c", "core.fsmonitor=false", "-c", "safe.directory=*")


class Place(msgspec.Struct, frozen=True, kw_only=True):
    home: Path
    why: str = "it was named"
    repository: Path | None = None
    """The working tree that it was found from; its `.awo/workflows` belong to it."""
    passed_over: Path | None = None
    """What looks like a data directory, and came with the repository: it may be anybody's."""


def find(environ: Mapping[str, str], folder: Path) -> Place:
    """For somebody who stands in `folder`."""
    if environ.get("AWO_HOME"):
        return Place(home=Path(environ["AWO_HOME"]), why="AWO_HOME names it")
    root = root_around(folder)
    if root is None:
        return Place(
            home=folder / NAME, why="this folder is in no repository, so it is the folder's own"
        )
    passed_over: Path | None = None
    for one in (folder, *folder.parents):
        old = one / NAME
        if _is_ours(old):
            if not _came_with(root, old):
                why = "it was made in the repository by an earlier version"
                return Place(home=old, why=why, repository=root)
            passed_over = passed_over or old
        if one == root:
            break
    return Place(
        home=outside(environ, root),
        why=f"it belongs to the repository {root}",
        repository=root,
        passed_over=passed_over,
    )


def outside(environ: Mapping[str, str], root: Path) -> Path:
    """Where a repository's data directory is made."""
    return _state(environ) / _key(root)


def root_around(folder: Path) -> Path | None:
    """The top of the working tree that a folder is in."""
    for one in (folder, *folder.parents):
        if _is_git(one / ".git"):
            return one
    return None


def of_same_name(environ: Mapping[str, str], root: Path) -> list[Path]:
    """Data directories of repositories of this name elsewhere: it may have been moved."""
    own = _key(root)
    name = own.rpartition("-")[0]
    found = [one for one in sorted(_state(environ).glob(f"{name}-*")) if (one / _OURS[0]).is_file()]
    return [one for one in found if one.name != own]


def _state(environ: Mapping[str, str]) -> Path:
    given = environ.get("XDG_STATE_HOME", "")
    if os.path.isabs(given):  # others are to be ignored, says the standard
        return Path(given) / "awo"
    if os.geteuid() == 0:
        # Agents run as other users there, who may not enter root's own folder.
        return _ROOTS_STATE
    return Path(environ.get("HOME") or os.path.expanduser("~")).absolute() / ".local/state/awo"


def _key(root: Path) -> str:
    """Readable, and the same for all worktrees of a repository."""
    common = _common_git(root)
    shown = common.parent.name if common.name == ".git" else root.name
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", shown)
    digest = hashlib.sha256(os.fsencode(common)).hexdigest()[:12]
    return f"{name.strip('.-')[:40] or 'repository'}-{digest}"


def _common_git(root: Path) -> Path:
    git = root / ".git"
    if git.is_file():
        git = root / _content(git).removeprefix("gitdir:").strip()
        common = _content(git / "commondir").strip()
        git = git / common if common else git
    return git.resolve()


def _is_git(git: Path) -> bool:
    if git.is_file():
        return _content(git).startswith("gitdir:")
    return (git / "HEAD").exists()


def _content(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(_SMALL_FILE).decode("utf-8", "surrogateescape")
    except OSError:
        return ""


def _is_ours(folder: Path) -> bool:
    return any((folder / name).is_file() for name in _OURS)


def _came_with(root: Path, folder: Path) -> bool:
    """Whether git tracks it: then whoever made the repository chose what is in it."""
    import subprocess  # for old ones only; every command waits for what stands at the top

    names = [str((folder / name).relative_to(root)) for name in _OURS]
    try:
        done = subprocess.run(
            [*_GIT, "-C", str(root), "ls-files", "-z", "--", *names],
            capture_output=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return True
    return done.returncode != 0 or bool(done.stdout)
