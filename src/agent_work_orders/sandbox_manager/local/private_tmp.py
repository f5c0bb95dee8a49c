"""Folders in which every user may write, made private to an order. Standard library only.

`/tmp` and `/var/tmp` become the order's own folder for temporary files, `/dev/shm` an empty one.
What the server itself names for an execution stays as it is: the data directory, a guarded
repository, and what the operator wrote into the program, its arguments (shell lines included), PATH
or another variable. Of the last the whole entry of `/tmp` stays, since a program needs what lies
beside it. Prompts are no arguments, so nobody else can name anything.

Used in the mount namespace of one execution, before its program starts.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterable, Mapping, Sequence

from agent_work_orders.sandbox_manager.local.mounts import (
    MS_BIND,
    MS_NODEV,
    MS_NOSUID,
    MS_REC,
    is_in,
    mount,
)

ON_DISK = ("/tmp", "/var/tmp")
IN_MEMORY = ("/dev/shm",)
# More are not named by honest requests, and each costs a mount.
MOST_NAMED = 64
# At the beginning of a word, up to what ends a word in a shell or a list of paths.
_NAMED = re.compile(
    r"""(?:^|(?<=[\s"'`=:,;(<>|&])|(?<=//))"""
    r"""(/(?:tmp|var/tmp|dev/shm)/[^\s"'`=:,;()<>|&$*?\[\]{}\\\0]+)"""
)
_ANYTHING = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = _ANYTHING | os.O_DIRECTORY


def named(argv: Sequence[str], env: Iterable[str]) -> list[str]:
    """Paths in one of the folders that a request speaks of."""
    return sorted({path for word in (*argv, *env) for path in _NAMED.findall(word)})


def make(own: str, stays: Sequence[str], named: Sequence[str], cover: str) -> None:
    """Over all of them. `own` is the order's folder; `stays` are paths that stay as they are."""
    handle = os.open(own, _FOLDER)
    points = {name: os.path.realpath(name) for name in (*ON_DISK, *IN_MEMORY)}
    named = [_resolved(path, points) for path in named]
    in_memory = {points[name] for name in IN_MEMORY}
    for point in dict.fromkeys(points.values()):
        if not os.path.isdir(point) or is_in(point, cover):
            continue
        kept = _kept(point, stays, named)
        opened = [(path, os.open(path, _ANYTHING)) for path in kept]
        if point in in_memory:
            mount("tmpfs", point, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777")
        else:
            mount(f"/proc/self/fd/{handle}", point, None, MS_BIND | MS_REC)
        for path, source in opened:
            _show(point, path, source)
            os.close(source)
    os.close(handle)


def _kept(point: str, stays: Sequence[str], named: Sequence[str]) -> list[str]:
    """What of a folder is still to be seen, the outermost only."""
    entries = {
        "/".join(path.split("/")[: point.count("/") + 2])
        for path in named
        if is_in(path, point) and path != point
    }
    found = {path for path in stays if is_in(path, point) and path != point}
    found |= set(sorted(entries)[:MOST_NAMED])
    return sorted(
        path for path in found if not _inside(path, found - {path}) and os.path.lexists(path)
    )


def _resolved(path: str, points: Mapping[str, str]) -> str:
    """As it is below one of the folders, which may be known by a link."""
    plain = os.path.normpath(path)
    for name, point in points.items():
        if is_in(plain, name):
            return point + plain[len(name) :]
    return plain


def _inside(path: str, folders: Iterable[str]) -> bool:
    return any(is_in(path, folder) for folder in folders)


def _show(point: str, path: str, source: int) -> None:
    """What was there before, at its place in the folder that covers it. A link stays a link, which
    the program follows with its own rights: anybody may have made it."""
    at = os.open(point, _FOLDER)
    *folders, name = os.path.relpath(path, point).split("/")
    for folder in folders:
        at = _step(at, folder)
    kind = os.fstat(source).st_mode
    if stat.S_ISLNK(kind):
        with contextlib.suppress(FileExistsError):
            os.symlink(os.readlink("", dir_fd=source), name, dir_fd=at)
    elif stat.S_ISDIR(kind):
        at = _step(at, name)
        mount(f"/proc/self/fd/{source}", f"/proc/self/fd/{at}", None, MS_BIND | MS_REC)
    else:
        os.close(os.open(name, os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=at))
        file = os.open(name, _ANYTHING, dir_fd=at)
        mount(f"/proc/self/fd/{source}", f"/proc/self/fd/{file}", None, MS_BIND)
        os.close(file)
    os.close(at)


def _step(at: int, name: str) -> int:
    """Into a folder of the order's own, through no link. What its agents put in the way is gone."""
    try:
        inner = os.open(name, _FOLDER, dir_fd=at)
    except (FileNotFoundError, NotADirectoryError) as found:
        if isinstance(found, NotADirectoryError):
            os.unlink(name, dir_fd=at)
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, 0o755, dir_fd=at)
        inner = os.open(name, _FOLDER, dir_fd=at)
    os.close(at)
    state = os.fstat(inner)
    if state.st_uid == 0 and not state.st_mode & stat.S_IXOTH:
        # Ours, and closed by a server that was killed while it emptied the order's folder.
        os.chmod(f"/proc/self/fd/{inner}", 0o755)
    return inner
