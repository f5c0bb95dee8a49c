"""Removing and measuring trees that agents made, through descriptors. No depth is too deep, and
nothing is followed. All functions block: call them in a thread."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from agent_work_orders.ids import new_id

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# A turn takes away one level of folders. A folder is ours once it is entered, and nobody fills it
# again; but where agents are the server's own user somebody may, and at some point it is enough.
_TURNS = 1_000_000


def empty(folder: Path) -> None:
    """Remove everything in a folder of the server's, and keep the folder."""
    try:
        fd = os.open(folder, FOLDER)
    except FileNotFoundError:
        return
    try:
        _empty(fd)
    finally:
        os.close(fd)


def remove(folder: Path) -> None:
    """Remove a folder, whose parents are the server's, and everything in it. Links are removed,
    never followed."""
    try:
        above = os.open(folder.parent, FOLDER)
    except FileNotFoundError:
        return
    try:
        remove_at(above, folder.name)
    finally:
        os.close(above)


def remove_at(above: int, name: str) -> None:
    """Remove what has the name in a folder that is the server's, whatever it is."""
    try:
        fd = _enter(name, above)
    except FileNotFoundError:
        return
    except NotADirectoryError:
        os.unlink(name, dir_fd=above)
        return
    try:
        _empty(fd)
    finally:
        os.close(fd)
    os.rmdir(name, dir_fd=above)


def size_bytes(folder: Path) -> int:
    """What a tree takes on disk; hard links count once each. One folder is open at a time. If
    folders are moved meanwhile, what was seen until then."""
    try:
        fd = os.open(folder, FOLDER)
    except OSError:
        return 0
    above: list[tuple[tuple[int, int], list[str]]] = []
    try:
        total, inner = _measure(fd)
        while inner or above:
            if inner:
                try:
                    entered = os.open(inner.pop(), FOLDER, dir_fd=fd)
                except OSError:  # gone, or closed to us
                    continue
                above.append((_identity(fd), inner))
                fd = _instead(fd, entered)
                size, inner = _measure(fd)
                total += size
            else:
                identity, inner = above.pop()
                fd = _instead(fd, os.open("..", FOLDER, dir_fd=fd))
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
            try:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
                    continue
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
    for _ in range(_TURNS):
        entries = _entries(top)
        if not entries:
            return
        for name in entries:
            _remove_flat(name, top)
    raise OSError(errno.EBUSY, "The folder is filled again and again")


def _remove_flat(name: str, top: int) -> None:
    """One entry; the folders in it become further entries of the top."""
    try:
        inner = _enter(name, top)
    except FileNotFoundError:
        return
    except NotADirectoryError:
        _unlink(name, top)
        return
    try:
        for found in _entries(inner):
            try:
                # Only a folder with rights of its own can be moved.
                os.close(_enter(found, inner))
                os.rename(found, new_id("emptied"), src_dir_fd=inner, dst_dir_fd=top)
            except FileNotFoundError:
                continue
            except NotADirectoryError:
                _unlink(found, inner)
    finally:
        os.close(inner)
    try:
        os.rmdir(name, dir_fd=top)
    except OSError as error:
        # Another one, or filled again: the next turn sees it.
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT, errno.ENOTDIR):
            raise


def _entries(fd: int) -> list[str]:
    with os.scandir(fd) as entries:
        return [entry.name for entry in entries]


def _unlink(name: str, fd: int) -> None:
    try:
        os.unlink(name, dir_fd=fd)
    except FileNotFoundError:
        return
    except IsADirectoryError:  # exchanged a moment ago: the next turn sees it
        return
    except PermissionError:
        os.fchmod(fd, 0o700)
        os.unlink(name, dir_fd=fd)


def movable(name: str, fd: int) -> None:
    """Only a folder with rights of its own can be moved elsewhere by who is not root."""
    if os.geteuid() != 0:
        try:
            os.close(_enter(name, fd))
        except NotADirectoryError:
            return


def _enter(name: str, fd: int) -> int:
    """Open a folder to empty it, also one whose rights the agent took away, and take it: from now
    on a descriptor that an agent holds changes nothing in it. NotADirectoryError for all else."""
    try:
        inner = os.open(name, FOLDER, dir_fd=fd)
    except PermissionError:
        _open_up(name, fd)
        inner = os.open(name, FOLDER, dir_fd=fd)
    try:
        found = os.fstat(inner)
        if os.geteuid() == 0 and found.st_uid != 0:
            os.fchown(inner, 0, 0)
        if stat.S_IMODE(found.st_mode) != 0o700:
            os.fchmod(inner, 0o700)
    except BaseException:
        os.close(inner)
        raise
    return inner


def _open_up(name: str, fd: int) -> None:
    """Of a folder that its owner, who we are, closed. Through a handle of exactly this one."""
    handle = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=fd)
    try:
        if not stat.S_ISDIR(os.fstat(handle).st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), name)
        os.chmod(f"/proc/self/fd/{handle}", 0o700)
    finally:
        os.close(handle)
