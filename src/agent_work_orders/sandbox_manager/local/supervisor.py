"""The program that stands between the server and everything an agent runs. Standard library only.

It is started once (`main` with arguments FD COVER auto|off GUARDED…) and forks a guard for
each execution: forking a small process takes about a millisecond, starting an interpreter ten times
that, and a small process has one thread, which parent-death signals need.

    server -- supervisor (this program, one)
                `- guard   process 1 of its own pid namespace where the kernel allows it
                     `- the program, as the agent's user

Rules:
- One guard is always made ahead, in its namespaces and with the cover over the data directory:
  the next execution does not wait for that. A guard serves one execution.
- The supervisor keeps a copy of the control socket until it has collected the guard, so the end of
  the socket means: all are dead.
- A control socket that closes (the server died) kills at once. `T` asks politely first.
- The guard's exit kills the whole namespace, daemons with their own session included. Without a
  namespace the guard is a subreaper and kills its descendants until none is left.
- With a mount namespace the data directory is covered by an empty one; only the paths that the
  request names show through. The agent cannot see the journal, keys, or other orders. The
  repository that an order works on, and the home of the server's user, are guarded. `/tmp` and its
  like are the order's own (private_tmp.py).
- Signals and abstract sockets stay in the execution where the kernel has scopes (landlock.py).

Control protocol: the server sends a 4-byte length and a JSON request; answers are JSON lines:
`{"guard": pid}` (of the supervisor, before the guard says anything), `{"started": true}`,
`{"error": errno, "what": …}`, `{"exit": code, "signal": number}`.
"""

from __future__ import annotations

import array
import errno
import fcntl
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

from agent_work_orders.sandbox_manager.local import landlock
from agent_work_orders.sandbox_manager.local.mounts import FOLDER, call
from agent_work_orders.sandbox_manager.local.namespaces import (
    Confinement,
    cover,
    probe,
    show,
    split,
)

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 36, 38
# SIGTERM first, SIGKILL after this: the contract of `execute` promises three seconds in all.
GRACE_S = 2.0
# Of one user, who runs one order: a fork bomb ends here, far above what builds and tests need.
MAX_PROCESSES = 8192
# Control socket, input, output and errors, and what more a program is given.
MOST_FDS = 8
FIRST_SPARE_FD = 16


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


def _become(
    confinement: Confinement, request: dict[str, Any], fds: list[int], report: int
) -> NoReturn:
    """The program itself. What fails here is reported by number, and never returns."""
    what = "prepare"
    try:
        os.setsid()
        # Out of the way of the numbers that the program finds them under.
        given = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, FIRST_SPARE_FD) for fd in fds]
        report = fcntl.fcntl(report, fcntl.F_DUPFD_CLOEXEC, FIRST_SPARE_FD)
        for target, fd in enumerate(given):
            os.dup2(fd, target)
        os.chdir("/")
        if os.geteuid() == 0:
            uid, gid = int(request["user"]["uid"]), int(request["user"]["gid"])
            if uid <= 0 or gid <= 0:
                raise PermissionError(errno.EPERM, "no program runs as root")
            resource.setrlimit(resource.RLIMIT_NPROC, (MAX_PROCESSES, MAX_PROCESSES))
            os.setgroups([])
            os.setresgid(gid, gid, gid)
            os.setresuid(uid, uid, uid)
        call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        if confinement.scoped:
            landlock.enter()
        # After the change of user, which clears it: the program does not outlive its guard.
        call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        os.umask(0o022)
        for number in (signal.SIGPIPE, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        what = "folder"
        os.chdir(request["cwd"])
        what = "path"
        for name in request["below"]:
            step = os.open(name, FOLDER)
            os.fchdir(step)
            os.close(step)
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


def _signal_all(confinement: Confinement, number: int) -> None:
    if confinement.namespaces:
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


def _kill_all(confinement: Confinement) -> None:
    """Until no child is left: what a killed process forked meanwhile falls to us."""
    while True:
        _signal_all(confinement, signal.SIGKILL)
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


def _guard(confinement: Confinement, request: dict[str, Any], control: int, fds: list[int]) -> None:
    """Start the program, wait for its end or for an order to end it, leave nothing alive."""
    call("prctl", PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    wake, alarm = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(alarm, warn_on_full_buffer=False)
    failed, report = os.pipe2(os.O_CLOEXEC)
    program = os.fork()
    if program == 0:
        _become(confinement, request, fds, report)
    os.close(report)
    for fd in fds:
        os.close(fd)
    problem = os.read(failed, 100)
    if problem:
        number, _, what = problem.decode().partition(" ")
        _kill_all(confinement)
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
                _signal_all(confinement, signal.SIGTERM)
                deadline = time.monotonic() + GRACE_S
        status = _reap(program)
        if deadline is not None and time.monotonic() >= deadline:
            break
    _kill_all(confinement)
    code = os.waitstatus_to_exitcode(status) if status is not None else -signal.SIGKILL
    _tell(control, {"exit": code if code >= 0 else None, "signal": -code if code < 0 else None})


def _await_work(confinement: Confinement, line: socket.socket) -> None:
    """A guard's life: get ready, wait for one execution, see it to its end."""
    os.setsid()
    below = -1
    problem: OSError | None = None
    if confinement.namespaces:
        call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        try:
            below = cover(confinement)
        except OSError as error:
            problem = error
    # Without namespaces there is no parent-death signal: the closing control socket leaves time
    # to kill the others.
    fds = _receive_descriptors(line)
    if len(fds) < 4 or _is_orphan(line):
        return
    control = fds.pop(0)
    request = _receive(control)
    try:
        if problem is not None:
            raise problem
        if confinement.namespaces:
            show(confinement, below, request)
    except OSError as error:
        _tell(control, {"error": error.errno or 0, "what": "namespace"})
        return
    _guard(confinement, request, control, fds)


def _is_orphan(line: socket.socket) -> bool:
    """The supervisor may have died before the parent-death signal was set: its end is closed."""
    try:
        return line.recv(1, socket.MSG_DONTWAIT | socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False


def _receive_descriptors(channel: socket.socket) -> list[int]:
    """Those that came with one byte; none when the other end is closed."""
    fds = array.array("i")
    _, ancillary, _, _ = channel.recvmsg(
        1, socket.CMSG_LEN(MOST_FDS * fds.itemsize), socket.MSG_CMSG_CLOEXEC
    )
    for level, kind, payload in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(payload[: len(payload) - len(payload) % fds.itemsize])
    return list(fds)


class Supervisor:
    """Keeps a guard ready and hands each execution to one; ends when the server is gone."""

    def __init__(self, confinement: Confinement, channel: socket.socket) -> None:
        self._confinement = confinement
        self._channel = channel
        self._wake, alarm = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(alarm, warn_on_full_buffer=False)
        self._lines: dict[int, socket.socket] = {}
        self._controls: dict[int, int] = {}
        self._spare = self._fork_guard()

    def run(self) -> None:
        while True:
            ready, _, _ = select.select([self._channel.fileno(), self._wake], [], [])
            if self._wake in ready:
                os.read(self._wake, 4096)
                self._collect()
            if self._channel.fileno() in ready:
                fds = _receive_descriptors(self._channel)
                if not fds:
                    return
                self._hand_over(fds)
                self._spare = self._fork_guard()

    def _fork_guard(self) -> int:
        """A new guard; 0 when the kernel has no room for one."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            pid = split(self._confinement)
        except OSError:
            ours.close()
            theirs.close()
            return 0
        if pid == 0:
            try:
                signal.set_wakeup_fd(-1)
                ours.close()
                self._forget_the_others()
                _await_work(self._confinement, theirs)
            finally:
                os._exit(0)
        theirs.close()
        self._lines[pid] = ours
        return pid

    def _forget_the_others(self) -> None:
        """A copy of their sockets in a new guard would hide that they ended."""
        self._channel.close()
        os.close(self._wake)
        for control in self._controls.values():
            os.close(control)
        for line in self._lines.values():
            line.close()

    def _hand_over(self, fds: list[int]) -> None:
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))]
        self._collect()
        for guard in (self._spare, 0):
            # The spare may have been killed, by the kernel for lack of memory or by a person.
            pid = guard if guard in self._lines else self._fork_guard()
            try:
                self._lines[pid].sendmsg([b"x"], rights)
                self._controls[pid] = fds[0]
                _tell(fds[0], {"guard": pid})
                break
            except (OSError, KeyError):
                continue
        else:
            _tell(fds[0], {"error": errno.EAGAIN, "what": "namespace"})
            os.close(fds[0])
        for fd in fds[1:]:
            os.close(fd)

    def _collect(self) -> None:
        """Dead guards; with each, everything in its namespace is dead."""
        try:
            while (pid := os.waitpid(-1, os.WNOHANG)[0]) != 0:
                self._lines.pop(pid).close()
                control = self._controls.pop(pid, None)
                if control is not None:
                    os.close(control)
        except ChildProcessError:
            return


def main() -> None:
    fd, cover, namespaces = sys.argv[1:4]
    confinement = Confinement(cover, tuple(sys.argv[4:]))
    channel = socket.socket(fileno=int(fd))
    # The terminal's Ctrl-C is for the server, which ends its executions one by one.
    os.setsid()
    if namespaces == "auto":
        probe(confinement)
        confinement.scoped = landlock.works()
    supervisor = Supervisor(confinement, channel)
    found = {
        name: getattr(confinement, name) for name in ("namespaces", "guards", "private", "scoped")
    }
    channel.sendall(json.dumps(found).encode() + b"\n")
    supervisor.run()
