"""The program that stands between the server and everything an agent runs. Standard library only.

It is started once (`supervisor.py FD COVER UID GID auto|off`) and forks a guard for each
execution: forking a small process takes about a millisecond, starting an interpreter ten times
that, and a small process has one thread, which parent-death signals need.

    server -- nursery (this program, one)
                `- watcher   holds the control socket; its end means: all are dead
                     `- guard   process 1 of its own pid namespace where the kernel allows it
                          `- the program, as the agent's user

Rules:
- A control socket that closes (the server died) kills at once. `T` asks politely first.
- The guard's exit kills the whole namespace, daemons with their own session included. Without a
  namespace the guard is a subreaper and kills its descendants until none is left.
- With a mount namespace the data directory is covered by an empty one; only the paths that the
  request names show through. The agent cannot see the journal, keys, or other orders.

Control protocol: the server sends a 4-byte length and a JSON request; answers are JSON lines:
`{"started": true}`, `{"error": errno, "what": …}`, `{"exit": code, "signal": number}`.
"""

from __future__ import annotations

import array
import ctypes
import json
import os
import resource
import select
import signal
import socket
import struct
import sys
import time

# Used by os.execvpe; nothing can be imported once the cover lies over the interpreter's folder.
import warnings  # noqa: F401
from typing import Any, NoReturn

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID = 0x20000, 0x10000000, 0x20000000
MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_SLAVE = 1, 32, 4096, 16384, 1 << 19
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_NOATIME, MS_RELATIME = 2, 4, 8, 1024, 1 << 21
ST_RELATIME = 4096
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 36, 38
# SIGTERM first, SIGKILL after this: the contract of `execute` promises three seconds in all.
GRACE_S = 2.0
# One user runs all agents: a fork bomb ends here, far above what builds and tests need.
MAX_PROCESSES = 8192

_libc = ctypes.CDLL(None, use_errno=True)


class Place:
    """What is the same for all executions: the folder to cover, the agent's user."""

    def __init__(self, cover: str, uid: int, gid: int) -> None:
        self.cover = cover
        self.uid = uid
        self.gid = gid
        self.namespaces = False


def _call(name: str, *arguments: Any) -> None:
    if getattr(_libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def _mount(source: str | None, target: str, kind: str | None, flags: int, data: str = "") -> None:
    _call(
        "mount",
        os.fsencode(source) if source else None,
        os.fsencode(target),
        kind.encode() if kind else None,
        ctypes.c_ulong(flags),
        data.encode() or None,
    )


def _unshare() -> None:
    """New pid and mount namespaces; without root, inside a user namespace that maps only us."""
    uid, gid = os.geteuid(), os.getegid()
    flags = CLONE_NEWPID | CLONE_NEWNS
    _call("unshare", flags if uid == 0 else flags | CLONE_NEWUSER)
    if uid != 0:
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{uid} {uid} 1"),
            ("gid_map", f"{gid} {gid} 1"),
        ):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)


def _furnish(place: Place, shown: list[tuple[str, bool]]) -> None:
    """Our own /proc, and an empty folder over the data directory with holes for `shown`."""
    _mount(None, "/", None, MS_REC | MS_SLAVE)
    handles = [(path, writable, os.open(path, os.O_PATH)) for path, writable in shown]
    _mount("tmpfs", place.cover, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0711,size=1m")
    for path, writable, handle in handles:
        os.makedirs(path, mode=0o711, exist_ok=True)
        _mount(f"/proc/self/fd/{handle}", path, None, MS_BIND | MS_REC)
        if not writable:
            _mount(None, path, None, MS_REMOUNT | MS_BIND | MS_RDONLY | _kept_flags(path))
        os.close(handle)
    _mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)


def _kept_flags(path: str) -> int:
    """Flags of the mount below; an unprivileged remount may not lose them."""
    have = os.statvfs(path).f_flag
    keep = have & (MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_NOATIME)
    return keep | (MS_RELATIME if have & ST_RELATIME else 0)


def _probe(place: Place) -> bool:
    """Whether namespaces work here, by making one."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            _unshare()
            inner = os.fork()
            if inner == 0:
                try:
                    _furnish(place, [])
                    os._exit(0)
                finally:
                    os._exit(1)
            code = os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1])
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def _tell(control: int, message: dict[str, Any]) -> None:
    try:
        os.write(control, json.dumps(message).encode() + b"\n")
    except OSError:
        return


def _receive(control: int) -> dict[str, Any]:
    def exactly(size: int) -> bytes:
        data = b""
        while len(data) < size:
            chunk = os.read(control, size - len(data))
            if not chunk:
                os._exit(0)
            data += chunk
        return data

    (size,) = struct.unpack("!I", exactly(4))
    request: dict[str, Any] = json.loads(exactly(size))
    return request


def _become(place: Place, request: dict[str, Any], fds: list[int], report: int) -> NoReturn:
    """The program itself. What fails here is reported by number, and never returns."""
    what = "prepare"
    try:
        os.setsid()
        for target, fd in enumerate(fds):
            os.dup2(fd, target)
        os.chdir("/")
        if os.geteuid() == 0 and place.uid != 0:
            resource.setrlimit(resource.RLIMIT_NPROC, (MAX_PROCESSES, MAX_PROCESSES))
            os.setgroups([])
            os.setresgid(place.gid, place.gid, place.gid)
            os.setresuid(place.uid, place.uid, place.uid)
        _call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        # After the change of user, which clears it: the program does not outlive its guard.
        _call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        os.umask(0o022)
        for number in (signal.SIGPIPE, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        what = "folder"
        os.chdir(request["cwd"])
        what = "program"
        os.execvpe(request["argv"][0], request["argv"], request["env"])
    except OSError as error:
        os.write(report, f"{error.errno or 0} {what}".encode())
    finally:
        os._exit(127)


def _descendants() -> list[int]:
    """All processes below this one, by the parent each names in /proc."""
    parents: dict[int, int] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    fields = file.read().rpartition(b")")[2].split()
                parents[int(name)] = int(fields[1])
            except (OSError, IndexError):
                continue
    found = {os.getpid()}
    while True:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        if not more:
            return sorted(found - {os.getpid()})
        found |= more


def _signal_all(place: Place, number: int) -> None:
    if place.namespaces:
        try:
            os.kill(-1, number)
        except ProcessLookupError:
            return
        return
    for pid in _descendants():
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue


def _kill_all(place: Place) -> None:
    """Until no child is left: what a killed process forked meanwhile falls to us."""
    while True:
        _signal_all(place, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0] != 0:
                pass
        except ChildProcessError:
            return
        time.sleep(0.002)


def _reap(program: int) -> int | None:
    """Collect dead children; the program's status once it is among them."""
    try:
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return None
            if pid == program:
                return status
    except ChildProcessError:
        return int(signal.SIGKILL)


def _guard(place: Place, request: dict[str, Any], control: int, fds: list[int]) -> None:
    """Start the program, wait for its end or for an order to end it, leave nothing alive."""
    _call("prctl", PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    wake, alarm = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(alarm, warn_on_full_buffer=False)
    failed, report = os.pipe2(os.O_CLOEXEC)
    program = os.fork()
    if program == 0:
        _become(place, request, fds, report)
    os.close(report)
    for fd in fds:
        os.close(fd)
    problem = os.read(failed, 100)
    if problem:
        number, _, what = problem.decode().partition(" ")
        _kill_all(place)
        _tell(control, {"error": int(number), "what": what})
        return
    _tell(control, {"started": True})
    deadline: float | None = None
    status: int | None = None
    while status is None:
        wait = None if deadline is None else max(0.0, deadline - time.monotonic())
        ready, _, _ = select.select([wake, control], [], [], wait)
        if wake in ready:
            os.read(wake, 4096)
        if control in ready:
            if os.read(control, 1) != b"T":
                break
            if deadline is None:
                _signal_all(place, signal.SIGTERM)
                deadline = time.monotonic() + GRACE_S
        status = _reap(program)
        if deadline is not None and time.monotonic() >= deadline:
            break
    _kill_all(place)
    code = os.waitstatus_to_exitcode(status) if status is not None else -signal.SIGKILL
    _tell(control, {"exit": code if code >= 0 else None, "signal": -code if code < 0 else None})


def _watch(place: Place, control: int, fds: list[int], parent: int) -> None:
    """One execution, from request to the last dead process."""
    os.setsid()
    request = _receive(control)
    if not place.namespaces:
        # No parent-death signal here: the closing control socket leaves time to kill the others.
        _guard(place, request, control, fds)
        return
    _unshare()
    # After unshare, which clears it.
    _call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        return
    ready, go = os.pipe2(os.O_CLOEXEC)
    guard = os.fork()
    if guard == 0:
        _call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        os.close(go)
        # The watcher may have died before the line above: its end of the pipe says so.
        if os.read(ready, 1) != b"g":
            os._exit(1)
        try:
            _furnish(place, [(path, bool(writable)) for path, writable in request["shown"]])
        except OSError as error:
            _tell(control, {"error": error.errno or 0, "what": "namespace"})
            os._exit(1)
        _guard(place, request, control, fds)
        os._exit(0)
    os.close(ready)
    for fd in fds:
        os.close(fd)
    os.write(go, b"g")
    # Returns only when every process of the namespace is dead and collected.
    os.waitpid(guard, 0)


def _nursery(place: Place, channel: socket.socket) -> None:
    """Fork a watcher for each message (four descriptors); end when the server is gone."""
    nursery = os.getpid()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        fds = array.array("i")
        data, ancillary, _, _ = channel.recvmsg(
            1, socket.CMSG_LEN(4 * fds.itemsize), socket.MSG_CMSG_CLOEXEC
        )
        for level, kind, payload in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                fds.frombytes(payload[: len(payload) - len(payload) % fds.itemsize])
        if not data:
            return
        if len(fds) == 4 and os.fork() == 0:
            channel.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            try:
                _watch(place, fds[0], list(fds[1:]), nursery)
            finally:
                os._exit(0)
        for fd in fds:
            os.close(fd)


def main() -> None:
    fd, cover, uid, gid, namespaces = sys.argv[1:6]
    place = Place(cover, int(uid), int(gid))
    channel = socket.socket(fileno=int(fd))
    # The terminal's Ctrl-C is for the server, which ends its executions one by one.
    os.setsid()
    place.namespaces = namespaces == "auto" and _probe(place)
    channel.sendall(b"n" if place.namespaces else b"-")
    _nursery(place, channel)


if __name__ == "__main__":
    main()
