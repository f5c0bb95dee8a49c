"""A process apart: its own pids and mounts, the data directory covered, and guards over what must
not be written. Standard library only.

A guarded path is bound onto itself, read-only: the program, whoever it runs as, can neither write
there nor take the guard away (its user namespace has no right to, and one that it makes itself gets
the mount locked).

Used by supervisor.py, in a process with one thread. Everything here is Linux; where the kernel or
its settings refuse, `probe` says so and executions go without.
"""

from __future__ import annotations

import ctypes
import os
import signal
from typing import Any

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID = 0x20000, 0x10000000, 0x20000000
# The number of clone(2); elsewhere executions go without namespaces.
SYS_CLONE = {"x86_64": 56, "aarch64": 220, "riscv64": 220, "ppc64le": 120}
MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_SLAVE = 1, 32, 4096, 16384, 1 << 19
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_NOATIME, MS_RELATIME = 2, 4, 8, 1024, 1 << 21
ST_RELATIME = 4096

_libc = ctypes.CDLL(None, use_errno=True)
# Keeps the interpreter's lock, which the child of a raw clone could not take back safely.
_raw = ctypes.PyDLL(None, use_errno=True)


class Place:
    """What is the same for all executions: the folder to cover, the agent's user, and what of this
    machine is guarded in each."""

    def __init__(self, cover: str, uid: int, gid: int, guarded: tuple[str, ...] = ()) -> None:
        self.cover = cover
        self.guarded = guarded
        self.uid = uid
        self.gid = gid
        self.root = os.geteuid() == 0
        self.namespaces = False
        self.guards = False


def call(name: str, *arguments: Any) -> None:
    if getattr(_libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def _mount(source: str | None, target: str, kind: str | None, flags: int, data: str = "") -> None:
    call(
        "mount",
        os.fsencode(source) if source else None,
        os.fsencode(target),
        kind.encode() if kind else None,
        ctypes.c_ulong(flags),
        data.encode() or None,
    )


def split(place: Place) -> int:
    """Fork. With namespaces the child is process 1 of a new pid namespace, with its own mounts;
    without root also of a user namespace. A raw clone, because unshare would take a process more;
    it is safe here, where no second thread exists."""
    if not place.namespaces:
        return os.fork()
    flags = CLONE_NEWPID | CLONE_NEWNS | signal.SIGCHLD
    if not place.root:
        flags |= CLONE_NEWUSER
    number = SYS_CLONE.get(os.uname().machine, -1)
    pid = int(_raw.syscall(number, ctypes.c_ulong(flags), None, None, None, None))
    if pid < 0:
        raise OSError(ctypes.get_errno(), "clone")
    return pid


def cover(place: Place) -> int:
    """In the child: our own /proc, the guards, and an empty folder over the data directory.
    Returns a way to what is below it, opened before: what shows through is not guarded."""
    if not place.root:
        _map_user(place)
    _mount(None, "/", None, MS_REC | MS_SLAVE)
    below = os.open(place.cover, os.O_PATH | os.O_DIRECTORY)
    if place.guards:
        for path in place.guarded:
            guard(path)
    _mount("tmpfs", place.cover, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0711,size=1m")
    _mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    return below


def _map_user(place: Place) -> None:
    """The new user namespace knows only us: without root, agents run as the server's user."""
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{place.uid} {place.uid} 1"),
        ("gid_map", f"{place.gid} {place.gid} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def guard(path: str, spared: str | None = None) -> None:
    """Make everything at a path read-only, but what is mounted in `spared`."""
    _mount(path, path, None, MS_BIND | MS_REC)
    for point in (path, *_mounted_in(path)):
        if spared is None or not _is_in(point, spared):
            _mount(None, point, None, MS_REMOUNT | MS_BIND | MS_RDONLY | _kept_flags(point))


def _mounted_in(path: str) -> list[str]:
    with open("/proc/self/mountinfo", "rb") as file:
        points = [_unescaped(line.split(b" ")[4]) for line in file]
    return sorted({point for point in points if point != path and _is_in(point, path)})


def _unescaped(point: bytes) -> str:
    """The kernel writes spaces, tabs, line feeds and backslashes as three octal digits."""
    first, *rest = point.split(b"\\")
    return os.fsdecode(first + b"".join(bytes([int(part[:3], 8)]) + part[3:] for part in rest))


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def show(place: Place, below: int, shown: list[tuple[str, bool]], guarded: list[str]) -> None:
    """Holes in the cover, whose paths the server names and which are all in the data directory;
    and further guards, for paths that the cover does not hide."""
    for path, writable in shown:
        handle = os.open(os.path.relpath(path, place.cover), os.O_PATH, dir_fd=below)
        os.makedirs(path, mode=0o711, exist_ok=True)
        _mount(f"/proc/self/fd/{handle}", path, None, MS_BIND | MS_REC)
        if not writable:
            _mount(None, path, None, MS_REMOUNT | MS_BIND | MS_RDONLY | _kept_flags(path))
        os.close(handle)
    os.close(below)
    for path in guarded if place.guards else ():
        if os.path.lexists(path):
            guard(path, spared=place.cover)


def _kept_flags(path: str) -> int:
    """Flags of the mount below; an unprivileged remount may not lose them."""
    have = os.statvfs(path).f_flag
    keep = have & (MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_NOATIME)
    return keep | (MS_RELATIME if have & ST_RELATIME else 0)


def probe(place: Place) -> None:
    """Find out what works here, by trying it: guards in namespaces, namespaces, neither."""
    place.namespaces = True
    for place.guards in (True, False):
        if _works(place):
            return
    place.namespaces = False


def _read_only(path: str) -> bool:
    """Also when the cover hides it."""
    return not os.path.lexists(path) or bool(os.statvfs(path).f_flag & MS_RDONLY)


def _works(place: Place) -> bool:
    try:
        pid = split(place)
    except OSError:
        return False
    if pid == 0:
        try:
            below = cover(place)
            if place.guards:
                # The one path that is always there; in the cover nobody needs it.
                guard(place.cover)
            os.close(below)
            os._exit(1 if place.guards and not all(map(_read_only, place.guarded)) else 0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
