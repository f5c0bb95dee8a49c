"""Files of an order, read and written by the host with the words people need when it fails.

The way there is that of descriptor_files.py: no link is followed, in no component. Nothing here
interprets content. All functions block: call them in a thread.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent_work_orders.errors import Environmental, NotFound, Refused, TooLarge
from agent_work_orders.sandbox_manager.local import descriptor_files
from agent_work_orders.sandbox_manager.local.agent_user import AgentUser


def components(path: str) -> list[str]:
    """A relative path taken apart; Refused `path_outside_workspace` if it could lead outside."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if path.startswith("/") or "\0" in path or ".." in parts or not parts or len(path) > 4096:
        raise outside(path)
    return parts


def read(root: Path, path: str, limit_bytes: int, user: AgentUser) -> bytes:
    with opened(root, path, user) as fd:
        return content(fd, path, limit_bytes)


def content(fd: int, path: str, limit_bytes: int) -> bytes:
    size = os.fstat(fd).st_size
    if size > limit_bytes:
        raise TooLarge(
            "file_too_large",
            f"{path} has {size} bytes; at most {limit_bytes} are read",
            hint="Ask for a smaller file.",
            field="path",
        )
    with os.fdopen(os.dup(fd), "rb") as file:
        return file.read(limit_bytes)


@contextmanager
def opened(root: Path, path: str, user: AgentUser) -> Iterator[int]:
    """A plain file below a folder whose parents are the server's."""
    *folders, name = components(path)
    try:
        top = os.open(root, descriptor_files.FOLDER)
    except OSError:
        raise lost(root) from None
    try:
        folder = descriptor_files.descend(top, folders, None)
        try:
            fd = os.open(name, descriptor_files.FILE, dir_fd=folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise _unreadable(path, error) from None
    finally:
        os.close(top)
    try:
        found = os.fstat(fd)
        # A hard link to a file of someone else would show it with the server's rights.
        foreign = found.st_nlink > 1 and found.st_uid != user.uid
        if not stat.S_ISREG(found.st_mode) or foreign:
            raise outside(path)
        yield fd
    finally:
        os.close(fd)


def write(
    staging: descriptor_files.Staging,
    root: Path,
    path: str,
    data: bytes,
    user: AgentUser,
    mode: int = 0o644,
) -> None:
    """Atomic, making folders."""
    *folders, name = components(path)
    try:
        top = os.open(root, descriptor_files.FOLDER)
    except OSError:
        raise lost(root) from None
    try:
        folder = descriptor_files.descend(top, folders, staging.step(user))
        try:
            staging.write(folder, name, data, user, mode)
        finally:
            os.close(folder)
    except OSError as error:
        raise _unwritable(path, error) from None
    finally:
        os.close(top)


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
