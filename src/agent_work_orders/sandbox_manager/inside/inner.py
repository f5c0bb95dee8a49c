"""The program inside of a box that starts what the server asks for. Standard library only, and of
that only what is built into the interpreter: it starts in 10 ms, where `socket` and `json` take 40.

It is copied into the box's view and run there as a file, never imported by the server. A container
is a box too: there the program is the first process, so that the kernel lets nobody inside kill it.

    server -- (channel) -- this program, the box's first
                           `- guard   one for each execution
                                `- the program

Rules:
- The channel is descriptor 0, or with the word `contained` a socket file that the server listens
  at; then the filter of system calls is put on here, where bwrap does it otherwise. A message is
  one byte with four descriptors: the execution's control socket, then its standard input, output
  and error. What is to be run follows on the control socket: four bytes of length, then a dict in
  marshal's version 2. An empty PATH in it is the box's own.
- On the control socket it speaks as `local/supervisor.py` does: JSON lines `started`, `error`,
  `exit`; `T` asks politely, its end kills at once.
- The guard adopts what its program leaves behind (daemons too) and kills it all before it says how
  the program ended. This program keeps a copy of the control socket until the guard is gone, so the
  end of the socket means: all are dead.
- At the start it sends the listening socket of the way out (127.0.0.1:3128), if it is to have one.
- Nobody in the box can look into this program or a guard (not dumpable). Killing it kills the box.
"""

from __future__ import annotations

import _ctypes
import _signal  # type: ignore[import-not-found] # typeshed describes only `signal`
import _socket
import errno
import marshal
import posix
import select
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 4, 36
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
SIGINT, SIGKILL, SIGPIPE, SIGTERM = 2, 9, 13, 15
TIOCSCTTY = 0x540E
GRACE_S = 2.0
OUTLET_PORT = 3128
# Connections that wait to be taken: more than a build opens at once.
OUTLET_BACKLOG = 256
CHANNEL, FILTER = "/sandbox/channel", "/sandbox-runtime/filter"
FILTER_STEP_BYTES, FILTER_MOST_BYTES = 8, 32_768
FOLDER = posix.O_PATH | posix.O_DIRECTORY | posix.O_NOFOLLOW | posix.O_CLOEXEC

_itself = _ctypes.dlopen(None, 0)  # type: ignore[arg-type] # None: this program
_prctl = _ctypes.dlsym(_itself, "prctl")


def prctl(option: int, value: int) -> None:
    _ctypes.call_function(_prctl, (option, value, 0, 0, 0))


def tell(control: int, text: str) -> None:
    try:
        posix.write(control, text.encode() + b"\n")
    except OSError:
        return


def receive(control: int) -> dict[str, Any]:
    def exactly(size: int) -> bytes:
        data = b""
        while len(data) < size:
            chunk = posix.read(control, size - len(data))
            if not chunk:
                posix._exit(0)
            data += chunk
        return data

    request: dict[str, Any] = marshal.loads(exactly(int.from_bytes(exactly(4), "big")))
    return request


def descriptors(channel: _socket.socket) -> list[int]:
    """Those that came with one byte; none when the other end is closed."""
    _, ancillary, _, _ = channel.recvmsg(1, _socket.CMSG_LEN(16), _socket.MSG_CMSG_CLOEXEC)
    fds = []
    for level, kind, payload in ancillary:
        if level == _socket.SOL_SOCKET and kind == _socket.SCM_RIGHTS:
            for at in range(0, len(payload) - len(payload) % 4, 4):
                fds.append(int.from_bytes(payload[at : at + 4], sys.byteorder))
    return fds


def find_program(name: str, path: str) -> list[str]:
    """What may be run under the name, as execvpe looks for it."""
    if "/" in name:
        return [name]
    return [f"{folder or '.'}/{name}" for folder in path.split(":")]


def run(name: str, argv: list[str], env: dict[str, str]) -> NoReturn:
    """Never returns. The first refusal that is none of "not here" goes before."""
    told = OSError(errno.ENOENT, "no such program")
    for candidate in find_program(name, env.get("PATH", "")):
        try:
            posix.execve(candidate, argv, env)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR) or "/" in name:
                told = error
    raise told


def become(request: dict[str, Any], fds: list[int], report: int) -> NoReturn:
    what = "prepare"
    try:
        posix.setsid()
        for target, fd in enumerate(fds):
            posix.dup2(fd, target)
        if request.get("terminal"):
            what = "terminal"
            import fcntl

            fcntl.ioctl(0, TIOCSCTTY, 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL)
        posix.umask(0o022)
        for number in (SIGPIPE, SIGTERM, SIGINT):
            _signal.signal(number, _signal.SIG_DFL)
        what = "folder"
        posix.chdir(request["cwd"])
        what = "path"
        for name in request["below"]:
            step = posix.open(name, FOLDER)
            posix.fchdir(step)
            posix.close(step)
        what = "program"
        env = request["env"]
        if env.get("PATH") == "":
            env["PATH"] = posix.environ[b"PATH"].decode()
        run(request["argv"][0], request["argv"], env)
    except OSError as error:
        posix.write(report, f"{error.errno or 0} {what}".encode())
    finally:
        posix._exit(127)


def descendants() -> set[int]:
    parents: dict[int, int] = {}
    for name in posix.listdir("/proc"):
        if name.isdigit():
            try:
                fd = posix.open(f"/proc/{name}/stat", posix.O_RDONLY | posix.O_CLOEXEC)
            except OSError:
                continue
            try:
                fields = posix.read(fd, 4096).rpartition(b")")[2].split()
                parents[int(name)] = int(fields[1])
            except (OSError, IndexError):
                pass
            finally:
                posix.close(fd)
    found = {posix.getpid()}
    while True:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        if not more:
            return found - {posix.getpid()}
        found |= more


def signal_all(number: int) -> None:
    for pid in descendants():
        try:
            posix.kill(pid, number)
        except OSError:
            continue


def none_left() -> bool:
    """Collect the dead; whether no child is left."""
    try:
        while posix.waitpid(-1, posix.WNOHANG)[0] != 0:
            pass
    except ChildProcessError:
        return True
    return False


def kill_all() -> None:
    """Until no child is left: what a killed process forked meanwhile falls to us."""
    while not none_left():
        signal_all(SIGKILL)
        time.sleep(0.001)


def reap(program: int) -> int | None:
    """Collect dead children; the program's status once it is among them."""
    try:
        while True:
            pid, status = posix.waitpid(-1, posix.WNOHANG)
            if pid == 0:
                return None
            if pid == program:
                return status
    except ChildProcessError:
        return SIGKILL


def guard(request: dict[str, Any], control: int, fds: list[int]) -> None:
    """Start the program, wait for its end or for an order to end it, leave nothing alive."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    prctl(PR_SET_PDEATHSIG, SIGKILL)
    wake, alarm = posix.pipe2(posix.O_CLOEXEC | posix.O_NONBLOCK)
    _signal.set_wakeup_fd(alarm, warn_on_full_buffer=False)
    failed, report = posix.pipe2(posix.O_CLOEXEC)
    program = posix.fork()
    if program == 0:
        become(request, fds, report)
    posix.close(report)
    for fd in fds:
        posix.close(fd)
    problem = posix.read(failed, 100)
    if problem:
        number, _, what = problem.decode().partition(" ")
        kill_all()
        tell(control, f'{{"error": {int(number)}, "what": "{what}"}}')
        return
    tell(control, '{"started": true}')
    deadline: float | None = None
    status: int | None = None
    while status is None:
        wait = None if deadline is None else max(0.0, deadline - time.monotonic())
        ready, _, _ = select.select([wake, control], [], [], wait)
        if wake in ready:
            posix.read(wake, 4096)
        if control in ready:
            if posix.read(control, 1) != b"T":
                break
            if deadline is None:
                signal_all(SIGTERM)
                deadline = time.monotonic() + GRACE_S
        status = reap(program)
        if deadline is not None and time.monotonic() >= deadline:
            break
    kill_all()
    code = posix.waitstatus_to_exitcode(status) if status is not None else -SIGKILL
    if code >= 0:
        tell(control, f'{{"exit": {code}, "signal": null}}')
    else:
        tell(control, f'{{"exit": null, "signal": {-code}}}')


def serve(channel: _socket.socket) -> None:
    """Until the server closes the channel."""
    wake, alarm = posix.pipe2(posix.O_CLOEXEC | posix.O_NONBLOCK)
    _signal.signal(_signal.SIGCHLD, lambda *_: None)
    _signal.set_wakeup_fd(alarm, warn_on_full_buffer=False)
    controls: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([channel.fileno(), wake], [], [])
        if wake in ready:
            posix.read(wake, 4096)
        if channel.fileno() in ready:
            fds = descriptors(channel)
            if not fds:
                return
            try:
                pid = posix.fork()
            except OSError as error:
                tell(fds[0], f'{{"error": {error.errno or 0}, "what": "prepare"}}')
                pid = -1
            if pid == 0:
                try:
                    for control in controls.values():
                        posix.close(control)
                    channel.close()
                    guard(receive(fds[0]), fds[0], fds[1:])
                finally:
                    posix._exit(0)
            for fd in fds[1:]:
                posix.close(fd)
            if pid > 0:
                controls[pid] = fds[0]
            else:
                posix.close(fds[0])
        try:
            while (pid := posix.waitpid(-1, posix.WNOHANG)[0]) != 0:
                # What a guard that was killed left behind falls to a container's first process.
                if pid in controls:
                    posix.close(controls.pop(pid))
        except ChildProcessError:
            continue


def outlet() -> _socket.socket:
    """The way out, which the server answers at: nothing else listens here."""
    listener = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM | _socket.SOCK_CLOEXEC)
    listener.setsockopt(_socket.SOL_SOCKET, _socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", OUTLET_PORT))
    listener.listen(OUTLET_BACKLOG)
    return listener


def inherited() -> _socket.socket:
    """The channel that was descriptor 0."""
    fd = posix.dup(0)
    posix.set_inheritable(fd, False)
    null = posix.open("/dev/null", posix.O_RDWR)
    posix.dup2(null, 0)
    return _socket.socket(fileno=fd)


def connected() -> _socket.socket:
    """The channel that the server waits for."""
    channel = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM | _socket.SOCK_CLOEXEC)
    channel.connect(CHANNEL)
    return channel


def refuse() -> None:
    """From here on the kernel refuses, to this program and all that it starts, what the filter
    names."""
    # Not built in, and slow to load; only a container, which takes longer by far, needs it.
    import ctypes

    fd = posix.open(FILTER, posix.O_RDONLY | posix.O_CLOEXEC)
    rules = posix.read(fd, FILTER_MOST_BYTES)
    posix.close(fd)
    steps = ctypes.create_string_buffer(rules, len(rules))
    # struct sock_fprog: how many steps, and where they are.
    size = (len(rules) // FILTER_STEP_BYTES).to_bytes(8, sys.byteorder)
    place = ctypes.addressof(steps).to_bytes(8, sys.byteorder)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, size + place) != 0:
        raise OSError(ctypes.get_errno(), "the filter of system calls was not taken")


def main() -> None:
    prctl(PR_SET_DUMPABLE, 0)
    if "contained" in sys.argv:
        channel = connected()
        refuse()
    else:
        channel = inherited()
    rights = []
    if "outlet" in sys.argv:
        listener = outlet()
        number = listener.fileno().to_bytes(4, sys.byteorder)
        rights = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, number)]
    channel.sendmsg([b"ready"], rights)
    if rights:
        listener.close()
    serve(channel)


if __name__ == "__main__":
    main()
