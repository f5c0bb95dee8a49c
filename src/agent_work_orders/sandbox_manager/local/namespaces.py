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

from agent_work_orders.sandbox_manager.local import private_tmp
from agent_work_orders.sandbox_manager.local.mounts import (
    FOLDER,
    MS_BIND,
    MS_NODEV,
    MS_NOEXEC,
    MS_NOSUID,
    MS_RDONLY,
    MS_REC,
    MS_REMOUNT,
    MS_SLAVE,
    is_in,
    kept_flags,
    mount,
)

CLONE_NEWNS, CLONE_NEWIPC = 0x20000, 0x8000000
CLONE_NEWUSER, CLONE_NEWPID = 0x10000000, 0x20000000
# The number of clone(2); elsewhere executions go without namespaces.
SYS_CLONE = {"x86_64": 56, "aarch64": 220, "riscv64": 220, "ppc64le": 120}
# Keeps the interpreter's lock, which the child of a raw clone could not take back safely.
_raw = ctypes.PyDLL(None, use_errno=True)


class Confinement:
    """What is the same for all executions: the folder to cover, and what of this machine is guarded
    in each."""

    def __init__(self, cover: str, guarded: tuple[str, ...] = ()) -> None:
        self.cover = cover
        self.guarded = guarded
        self.ids = (os.geteuid(), os.getegid())
        self.root = self.ids[0] == 0
        self.namespaces = False
        self.guards = False
        self.private = False
        self.scoped = False


def split(confinement: Confinement) -> int:
    """Fork. With namespaces the child is process 1 of a new pid namespace, with its own mounts;
    without root also of a user namespace. A raw clone, because unshare would take a process more;
    it is safe here, where no second thread exists."""
    if not confinement.namespaces:
        return os.fork()
    flags = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | signal.SIGCHLD
    if not confinement.root:
        flags |= CLONE_NEWUSER
    number = SYS_CLONE.get(os.uname().machine, -1)
    pid = int(_raw.syscall(number, ctypes.c_ulong(flags), None, None, None, None))
    if pid < 0:
        raise OSError(ctypes.get_errno(), "clone")
    return pid


def cover(confinement: Confinement) -> int:
    """In the child: our own /proc, the guards, and an empty folder over the data directory.
    Returns a way to what is below it, opened before: what shows through is not guarded."""
    if not confinement.root:
        _map_user(*confinement.ids)
    mount(None, "/", None, MS_REC | MS_SLAVE)
    below = os.open(confinement.cover, os.O_PATH | os.O_DIRECTORY)
    if confinement.guards:
        for path in confinement.guarded:
            guard(path)
    mount("tmpfs", confinement.cover, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0711,size=1m")
    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    if confinement.private and os.path.ismount("/dev/mqueue"):
        mount("mqueue", "/dev/mqueue", "mqueue", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    return below


def _map_user(uid: int, gid: int) -> None:
    """The new user namespace knows only us: without root, agents run as the server's user."""
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{uid} {uid} 1"),
        ("gid_map", f"{gid} {gid} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def guard(path: str, spared: str | None = None) -> None:
    """Make everything at a path read-only, but what is mounted in `spared`."""
    mount(path, path, None, MS_BIND | MS_REC)
    for point in (path, *_mounted_in(path)):
        if spared is None or not is_in(point, spared):
            mount(None, point, None, MS_REMOUNT | MS_BIND | MS_RDONLY | kept_flags(point))


def _mounted_in(path: str) -> list[str]:
    with open("/proc/self/mountinfo", "rb") as file:
        points = [_unescaped(line.split(b" ")[4]) for line in file]
    return sorted({point for point in points if point != path and is_in(point, path)})


def _unescaped(point: bytes) -> str:
    """The kernel writes spaces, tabs, line feeds and backslashes as three octal digits."""
    first, *rest = point.split(b"\\")
    return os.fsdecode(first + b"".join(bytes([int(part[:3], 8)]) + part[3:] for part in rest))


def show(confinement: Confinement, below: int, request: dict[str, Any]) -> None:
    """Holes in the cover, whose paths the server names and which are all in the data directory;
    further guards, for paths that the cover does not hide; and what all users write, private."""
    for path, writable in request["shown"]:
        handle = os.open(os.path.relpath(path, confinement.cover), FOLDER, dir_fd=below)
        os.makedirs(path, mode=0o711, exist_ok=True)
        mount(f"/proc/self/fd/{handle}", path, None, MS_BIND | MS_REC)
        if not writable:
            mount(None, path, None, MS_REMOUNT | MS_BIND | MS_RDONLY | kept_flags(path))
        os.close(handle)
    os.close(below)
    guarded = [path for path in request["guarded"] if os.path.lexists(path)]
    for path in guarded if confinement.guards else ():
        guard(path, spared=confinement.cover)
    if confinement.private and request["temporary"]:
        words = private_tmp.named(request["argv"], request["env"].values())
        named = [path for path in words if not is_in(path, confinement.cover)]
        private_tmp.make(
            request["temporary"],
            [confinement.cover, *guarded, *confinement.guarded],
            named,
            confinement.cover,
        )


def probe(confinement: Confinement) -> None:
    """Find out what works here, by trying it: in namespaces guards and private folders, guards,
    nothing more; or no namespaces."""
    confinement.namespaces = True
    for confinement.guards, confinement.private in ((True, True), (True, False), (False, False)):
        if _works(confinement):
            return
    confinement.namespaces = False


def _read_only(path: str) -> bool:
    """Also when the cover hides it."""
    return not os.path.lexists(path) or bool(os.statvfs(path).f_flag & MS_RDONLY)


def _works(confinement: Confinement) -> bool:
    try:
        pid = split(confinement)
    except OSError:
        return False
    if pid == 0:
        try:
            below = cover(confinement)
            if confinement.private:
                private_tmp.make(confinement.cover, [confinement.cover], [], confinement.cover)
            if confinement.guards:
                # The one path that is always there; in the cover nobody needs it.
                guard(confinement.cover)
            os.close(below)
            os._exit(
                1 if confinement.guards and not all(map(_read_only, confinement.guarded)) else 0
            )
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
