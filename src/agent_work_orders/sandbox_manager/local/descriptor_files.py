"""Files that an agent can write, touched by the host through descriptors: the only door to them.

Two agents together can hold a descriptor of any folder they ever owned, and exchange what is in it
between any two calls of the host. Rules:
- A path is walked name by name, each opened without following links, relative to the one before.
- What the host makes, it makes in `Staging`, a folder of the server that no agent can enter or
  hold, with content, mode and owner; then one rename puts it into place. Nothing that was found in
  an agent's tree is ever given an owner or a mode, but what is taken away from it.
- So a server that is killed in between leaves nothing strange in a workspace.

All functions block: call them in a thread.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from agent_work_orders.ids import new_id
from agent_work_orders.sandbox_manager.local import descriptor_trees
from agent_work_orders.sandbox_manager.local.agent_user import AgentUser
from agent_work_orders.sandbox_manager.local.descriptor_trees import FOLDER as FOLDER

FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NOREPLACE, _EXCHANGE = 1, 2
# How often something that colluding agents put there again is taken away before giving up.
_TURNS = 100

_libc = ctypes.CDLL(None, use_errno=True)


@contextmanager
def opened(path: Path) -> Iterator[int]:
    """A folder whose parents are the server's. OSError if it is none, or a link."""
    fd = os.open(path, FOLDER)
    try:
        yield fd
    finally:
        os.close(fd)


def descend(folder: int, names: Sequence[str], make: Callable[[int, str], None] | None) -> int:
    """A new descriptor of what is at `names` below a folder. `make` is asked for one that is
    missing; else FileNotFoundError."""
    fd = os.dup(folder)
    try:
        for name in names:
            try:
                inner = os.open(name, FOLDER, dir_fd=fd)
            except FileNotFoundError:
                if make is None:
                    raise
                make(fd, name)
                inner = os.open(name, FOLDER, dir_fd=fd)
            os.close(fd)
            fd = inner
    except BaseException:
        os.close(fd)
        raise
    return fd


def make_folder(path: Path, user: AgentUser | None, mode: int = 0o700) -> None:
    """A folder for an agent's user, or for the server (None), where nothing is yet. Its parents
    are the server's, so that nobody can put another one in its place."""
    os.mkdir(path, 0o700)
    with opened(path) as fd:
        os.fchmod(fd, mode)
        give(fd, user or AgentUser(uid=0, gid=0))


def give(fd: int, user: AgentUser) -> None:
    """Only root can. Of what the host has just made."""
    if os.geteuid() == 0:
        os.fchown(fd, user.uid, user.gid)


def let_pass(path: Path, user: AgentUser) -> None:
    """Let one user through a folder of the server's."""
    with opened(path) as fd:
        if os.geteuid() == 0:
            os.fchown(fd, 0, user.gid)
        os.fchmod(fd, 0o710)


class Staging:
    """Where the host makes what it hands over to one order, beside the order's own folders. What is
    asked of it is done or fails with OSError."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def empty(self) -> None:
        """Begin anew, without what a server that was killed left here. Only while nobody works."""
        if is_folder(self._folder):
            descriptor_trees.empty(self._folder)
        else:
            make_folder(self._folder, None)

    def write(
        self, folder: int, name: str, content: bytes, user: AgentUser, mode: int = 0o644
    ) -> None:
        """A new file takes the name, so an existing hard link is never written through."""
        with opened(self._folder) as staging:
            made = new_id("file")
            try:
                _file(staging, made, content, user, mode)
                os.rename(made, name, src_dir_fd=staging, dst_dir_fd=folder)
            except OSError:
                _forget(made, staging)
                raise

    def step(self, user: AgentUser) -> Callable[[int, str], None]:
        """For `descend`: makes folders for the user."""

        def make(folder: int, name: str) -> None:
            with self._tree({}, (), user, mode=0o755) as (staging, made):
                try:
                    _rename(staging, made, folder, name, _NOREPLACE)
                except FileExistsError:
                    return

        return make

    def put_tree(
        self,
        folder: int,
        name: str,
        content: Mapping[str, bytes],
        empty: Sequence[str],
        user: AgentUser,
        *,
        times: Mapping[str, int] | None = None,
        mode: int = 0o700,
    ) -> None:
        """A folder of files takes the name, and what had it is removed. `empty` are folders to be
        made besides, `times` when files were changed (in ns)."""
        with self._tree(content, empty, user, times=times or {}, mode=mode) as (staging, made):
            self._replace(staging, made, folder, name)

    def move(self, source: int, old: str, folder: int, name: str) -> None:
        """A folder made before takes the name, and what had it is removed."""
        with opened(self._folder) as staging:
            made = new_id("tree")
            _rename(source, old, staging, made, 0)
            try:
                self._replace(staging, made, folder, name)
            finally:
                descriptor_trees.remove_at(staging, made)

    def take(self, folder: int, name: str) -> None:
        """Remove what has the name, whatever it is; it is out of the way at once."""
        with opened(self._folder) as staging:
            taken = new_id("taken")
            try:
                descriptor_trees.movable(name, folder)
                os.rename(name, taken, src_dir_fd=folder, dst_dir_fd=staging)
            except FileNotFoundError:
                return
            descriptor_trees.remove_at(staging, taken)

    def _replace(self, staging: int, made: str, folder: int, name: str) -> None:
        for _ in range(_TURNS):
            try:
                descriptor_trees.movable(name, folder)
                _rename(staging, made, folder, name, _EXCHANGE)
                return
            except FileNotFoundError:
                try:
                    _rename(staging, made, folder, name, _NOREPLACE)
                    return
                except FileExistsError:
                    continue
        raise OSError(errno.EBUSY, f"{name} is put there again and again")

    @contextmanager
    def _tree(
        self,
        content: Mapping[str, bytes],
        empty: Sequence[str],
        user: AgentUser,
        *,
        times: Mapping[str, int] | None = None,
        mode: int,
    ) -> Iterator[tuple[int, str]]:
        """One in the staging folder. What has its name in the end is removed."""
        with opened(self._folder) as staging:
            made = new_id("tree")
            try:
                os.mkdir(made, 0o700, dir_fd=staging)
                top = os.open(made, FOLDER, dir_fd=staging)
                try:
                    _fill(top, content, empty, user, times or {}, mode)
                finally:
                    os.close(top)
                yield staging, made
            finally:
                descriptor_trees.remove_at(staging, made)


def _fill(
    top: int,
    content: Mapping[str, bytes],
    empty: Sequence[str],
    user: AgentUser,
    times: Mapping[str, int],
    mode: int,
) -> None:
    made: set[str] = set()
    for folder in (*empty, *(name.rpartition("/")[0] for name in content)):
        parts = folder.split("/") if folder else []
        for count in range(1, len(parts) + 1):
            path = "/".join(parts[:count])
            if path not in made:
                os.mkdir(path, mode, dir_fd=top)
                made.add(path)
    for name, data in content.items():
        _file(top, name, data, user, 0o644, times.get(name))
    for path in sorted(made, reverse=True):
        fd = os.open(path, FOLDER, dir_fd=top)
        try:
            _finish(fd, user, mode)
        finally:
            os.close(fd)
    _finish(top, user, mode)


def _file(
    folder: int, name: str, data: bytes, user: AgentUser, mode: int, at_ns: int | None = None
) -> None:
    fd = os.open(name, _NEW_FILE, 0o600, dir_fd=folder)
    with os.fdopen(fd, "wb") as file:
        file.write(data)
        file.flush()
        _finish(fd, user, mode)
        if at_ns is not None:
            os.utime(fd, ns=(at_ns, at_ns))


def _finish(fd: int, user: AgentUser, mode: int) -> None:
    os.fchmod(fd, mode)
    give(fd, user)


def _forget(name: str, folder: int) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return


def _rename(source: int, old: str, folder: int, new: str, how: int) -> None:
    """renameat2. Where the file system has it not, in two steps that lose nothing."""
    arguments = (source, os.fsencode(old), folder, os.fsencode(new), ctypes.c_uint(how))
    if how == 0:
        os.rename(old, new, src_dir_fd=source, dst_dir_fd=folder)
    elif _libc.renameat2(*arguments) != 0:
        number = ctypes.get_errno()
        if number not in (errno.EINVAL, errno.ENOSYS):
            raise OSError(number, os.strerror(number), new)
        _rename_plainly(source, old, folder, new, how)


def _rename_plainly(source: int, old: str, folder: int, new: str, how: int) -> None:
    found = os.stat(new, dir_fd=folder, follow_symlinks=False) if how == _EXCHANGE else None
    if found is None:
        # A folder in place of what is there fails by itself, unless that is an empty folder.
        os.rename(old, new, src_dir_fd=source, dst_dir_fd=folder)
        return
    aside = new_id("aside")
    os.rename(new, aside, src_dir_fd=folder, dst_dir_fd=source)
    os.rename(old, new, src_dir_fd=source, dst_dir_fd=folder)
    os.rename(aside, old, src_dir_fd=source, dst_dir_fd=source)


def owner(path: Path) -> int | None:
    """Whose folder it is; None if it is none."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_uid if stat.S_ISDIR(found.st_mode) else None


def is_folder(path: Path) -> bool:
    """Not a link to one."""
    return owner(path) is not None
