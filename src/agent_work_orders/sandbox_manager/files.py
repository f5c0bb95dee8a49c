"""The host's hands in a tree that an agent can write.

Every component is opened without following links, relative to the folder before it, so a link or
a swapped folder leads nowhere. Nothing here interprets content. All functions block: call them
in a thread.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent_work_orders.errors import Environmental, NotFound, Refused, TooLarge
from agent_work_orders.ids import new_id
from agent_work_orders.sandbox_manager.agent_user import AgentUser

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def components(path: str) -> list[str]:
    """A relative path taken apart; Refused `path_outside_workspace` if it could lead outside."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if path.startswith("/") or "\0" in path or ".." in parts or not parts or len(path) > 4096:
        raise outside(path)
    return parts


def read(root: Path, path: str, limit_bytes: int, user: AgentUser) -> bytes:
    parts = components(path)
    with _opened(root, parts[:-1], path) as folder:
        try:
            fd = os.open(parts[-1], _FILE, dir_fd=folder)
        except OSError as error:
            raise _unreadable(path, error) from None
    try:
        _check_readable(fd, path, limit_bytes, user)
        with os.fdopen(os.dup(fd), "rb") as file:
            return file.read(limit_bytes)
    finally:
        os.close(fd)


def _check_readable(fd: int, path: str, limit_bytes: int, user: AgentUser) -> None:
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode):
        raise outside(path)
    # A hard link to a file of someone else would show it with the server's rights.
    if found.st_nlink > 1 and found.st_uid != user.uid:
        raise outside(path)
    if found.st_size > limit_bytes:
        raise TooLarge(
            "file_too_large",
            f"{path} has {found.st_size} bytes; at most {limit_bytes} are read",
            hint="Ask for a smaller file.",
            field="path",
        )


def write(root: Path, path: str, content: bytes, user: AgentUser, mode: int = 0o644) -> None:
    """Atomic: a new file takes the name, so an existing hard link is never written through."""
    parts = components(path)
    with _opened(root, parts[:-1], path, make_as=user) as folder:
        name = f".{new_id('write')}"
        fd = os.open(
            name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=folder
        )
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(content)
                give(fd, user)
                os.fchmod(fd, mode)
            os.rename(name, parts[-1], src_dir_fd=folder, dst_dir_fd=folder)
        except OSError as error:
            os.unlink(name, dir_fd=folder)
            raise _unwritable(path, error) from None


def give(fd: int, user: AgentUser) -> None:
    if os.geteuid() == 0:
        os.fchown(fd, user.uid, user.gid)


def make_folder(path: Path, user: AgentUser | None, mode: int = 0o700) -> None:
    """A folder for the agent's user, or for the server (None). There must be nothing yet."""
    os.mkdir(path, mode)
    os.chmod(path, mode)
    if user is not None and os.geteuid() == 0:
        os.chown(path, user.uid, user.gid)


def empty(folder: Path) -> None:
    """Remove everything in a folder, and keep the folder."""
    try:
        fd = os.open(folder, _FOLDER)
    except FileNotFoundError:
        return
    try:
        _empty(fd)
    finally:
        os.close(fd)


def remove(folder: Path) -> None:
    """Remove a folder and everything in it. Links are removed, never followed."""
    try:
        empty(folder)
        os.rmdir(folder)
    except FileNotFoundError:
        return
    except NotADirectoryError:
        os.unlink(folder)


def size_bytes(folder: Path) -> int:
    """What a tree takes on disk; hard links count once each. One folder is open at a time, so that
    no depth is too deep. If folders are moved meanwhile, what was seen until then."""
    try:
        fd = os.open(folder, _FOLDER)
    except OSError:
        return 0
    above: list[tuple[tuple[int, int], list[str]]] = []
    try:
        total, inner = _measure(fd)
        while inner or above:
            if inner:
                try:
                    entered = os.open(inner.pop(), _FOLDER, dir_fd=fd)
                except OSError:  # gone, or closed to us
                    continue
                above.append((_identity(fd), inner))
                fd = _instead(fd, entered)
                size, inner = _measure(fd)
                total += size
            else:
                identity, inner = above.pop()
                fd = _instead(fd, os.open("..", _FOLDER, dir_fd=fd))
                if _identity(fd) != identity:
                    break
        return total
    finally:
        os.close(fd)


def _measure(fd: int) -> tuple[int, list[str]]:
    """The bytes of a folder's files, and the names of the folders in it."""
    total, folders = 0, []
    with os.scandir(fd) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
                continue
            try:
                total += entry.stat(follow_symlinks=False).st_blocks * 512
            except FileNotFoundError:
                continue
    return total, folders


def _identity(fd: int) -> tuple[int, int]:
    found = os.fstat(fd)
    return found.st_dev, found.st_ino


def _instead(old: int, new: int) -> int:
    os.close(old)
    return new


def _empty(top: int) -> None:
    """Folders inside folders are moved up to the top first, so that no depth is too deep."""
    while entries := _entries(top):
        for name, is_folder in entries:
            if not is_folder:
                _unlink(name, top)
                continue
            inner = _enter(name, top)
            try:
                _raise_folders(inner, top)
            finally:
                os.close(inner)
            os.rmdir(name, dir_fd=top)


def _raise_folders(fd: int, top: int) -> None:
    for name, is_folder in _entries(fd):
        if is_folder:
            # Only a folder with rights of its own can be moved.
            os.close(_enter(name, fd))
            os.rename(name, new_id("emptied"), src_dir_fd=fd, dst_dir_fd=top)
        else:
            _unlink(name, fd)


def _entries(fd: int) -> list[tuple[str, bool]]:
    with os.scandir(fd) as entries:
        return [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]


def _unlink(name: str, fd: int) -> None:
    try:
        os.unlink(name, dir_fd=fd)
    except PermissionError:
        os.fchmod(fd, 0o700)
        os.unlink(name, dir_fd=fd)


def _enter(name: str, fd: int) -> int:
    """Open a folder to empty it, also one whose rights the agent took away."""
    try:
        inner = os.open(name, _FOLDER, dir_fd=fd)
    except PermissionError:
        os.chmod(name, 0o700, dir_fd=fd)
        inner = os.open(name, _FOLDER, dir_fd=fd)
    if os.fstat(inner).st_mode & 0o700 != 0o700:
        os.fchmod(inner, 0o700)
    return inner


@contextmanager
def _opened(
    root: Path, parts: list[str], path: str, *, make_as: AgentUser | None = None
) -> Iterator[int]:
    try:
        fd = os.open(root, _FOLDER)
    except OSError:
        raise lost(root) from None
    try:
        for part in parts:
            try:
                inner = _step(fd, part, make_as)
            except OSError as error:
                raise _unreadable(path, error) from None
            os.close(fd)
            fd = inner
        yield fd
    finally:
        os.close(fd)


def _step(fd: int, name: str, make_as: AgentUser | None) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=fd)
    except FileNotFoundError:
        if make_as is None:
            raise
    os.mkdir(name, 0o755, dir_fd=fd)
    inner = os.open(name, _FOLDER, dir_fd=fd)
    give(inner, make_as)
    return inner


def lost(root: Path) -> Environmental:
    return Environmental(
        "sandbox_lost",
        f"The workspace {root.parent.name} is gone",
        hint="It is made anew from the last commit at the next attempt.",
    )


def outside(path: str) -> Refused:
    return Refused(
        "path_outside_workspace",
        f"{path[:200]!r} is not a plain path inside the workspace",
        hint="Give a relative path without '..' that goes through no symbolic link.",
        field="path",
    )


def _unreadable(path: str, error: OSError) -> Refused:
    if error.errno == errno.ENOENT:
        return NotFound(
            "file_missing",
            f"The workspace has no file {path[:200]!r}",
            hint="Check the path; it is relative to the repository's root.",
            field="path",
        )
    return outside(path)


def _unwritable(path: str, error: OSError) -> Refused | Environmental:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Environmental(
            "disk_full",
            f"No space left to write {path[:200]!r}",
            hint="Free space on the data directory's disk.",
        )
    return outside(path)
