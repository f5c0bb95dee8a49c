"""What a hostile program inside of a box or a container reaches of this machine: nothing.

Each probe is a real process that prints REACHED when it got where it should not. It runs twice:
inside, and unprotected as the server's own user, where it must succeed: else the test shows
nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agent_work_orders.sandbox_manager.sandbox import Execution, Sandbox, SandboxType
from agent_work_orders.testing.conformance.sandbox import ready, shell

CANARY = "canary-5f0c1e7d"
PYTHON = "/usr/bin/python3"


class World(msgspec.Struct, frozen=True, kw_only=True):
    """What is there to be reached, on the host."""

    secret: Path
    other: Path
    outside: Path
    tcp: int
    udp: int
    sock: Path
    abstract: str
    victim: int


@pytest.fixture(params=["bubblewrap", pytest.param("container", marks=pytest.mark.slow)])
def sandbox_type(request: pytest.FixtureRequest) -> SandboxType:
    found: SandboxType = request.param
    return found


@pytest.fixture
async def boxed(bench: Any) -> Sandbox:
    return await ready(bench)


@pytest.fixture
async def world(bench: Any, folder: Path) -> Any:
    """Secrets, services and a process, whose presence the controls prove."""
    secret = bench.home / "local.key"
    secret.write_text(CANARY)
    secret.chmod(0o600)
    other = await ready(bench)
    await shell(other, f"echo {CANARY} > theirs.txt")
    found = next((bench.home / "workspaces").glob("wo-*/repo/theirs.txt"))
    outside = folder / "outside"
    outside.mkdir(mode=0o777)
    outside.chmod(0o777)
    with contextlib.ExitStack() as at_end:
        tcp = at_end.enter_context(_listening(socket.AF_INET, ("127.0.0.1", 0)))
        path = folder / "service.sock"
        at_end.enter_context(_listening(socket.AF_UNIX, str(path)))
        path.chmod(0o777)
        name = f"awo-{CANARY}-{os.getpid()}"
        at_end.enter_context(_listening(socket.AF_UNIX, "\0" + name))
        udp = at_end.enter_context(_echoing())
        victim = subprocess.Popen(
            [sys.executable, "-c", "import time; time.sleep(600)", f"--token={CANARY}"],
            env={"SECRET": CANARY},
        )
        at_end.callback(victim.wait)
        at_end.callback(victim.kill)
        yield World(
            secret=secret,
            other=found,
            outside=outside,
            tcp=tcp,
            udp=udp,
            sock=path,
            abstract=name,
            victim=victim.pid,
        )


@contextlib.contextmanager
def _listening(family: int, address: Any) -> Iterator[int]:
    """Says CANARY to whoever connects."""
    with socket.socket(family, socket.SOCK_STREAM) as server:
        server.bind(address)
        server.listen()

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    with connection:
                        connection.sendall(CANARY.encode())

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1] if family == socket.AF_INET else 0
        server.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def _echoing() -> Iterator[int]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    asked, who = server.recvfrom(100)
                    if not asked:
                        return
                    server.sendto(CANARY.encode(), who)

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]
        with contextlib.suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)


# Read files, look at processes, reach services. `{}` names are those of World.
PROBES = {
    "the server's key": "print(open('{secret}').read())",
    "the server's home by listing": """
        import os
        print('REACHED' if 'workspaces' in os.listdir('{secret.parent}') else '')""",
    "another order's workspace": "print(open('{other}').read())",
    "any file with the word, anywhere near": """
        import os
        for at in ('{outside.parent}', '/proc/{victim}/root{outside.parent}'):
            for folder, _, names in os.walk(at):
                for name in names:
                    try: text = open(os.path.join(folder, name), 'rb').read(65536)
                    except OSError: continue
                    if b'canary-5f0c1e7d' in text: print('REACHED'); raise SystemExit""",
    "environment of processes": """
        import glob
        for name in glob.glob('/proc/[0-9]*/environ'):
            try: text = open(name, 'rb').read()
            except OSError: continue
            if b'SECRET=canary-5f0c1e7d' in text: print('REACHED')""",
    "command lines of processes": """
        import glob
        for name in glob.glob('/proc/[0-9]*/cmdline'):
            try: text = open(name, 'rb').read()
            except OSError: continue
            if b'--tok' + b'en=canary-' in text: print('REACHED')""",
    "a service on loopback": """
        import socket
        print(socket.create_connection(('127.0.0.1', {tcp}), 2).recv(100).decode())""",
    "a service on loopback, by IPv6 and by other numbers": """
        import socket
        for name in ('::ffff:127.0.0.1', '127.1', '0', '0x7f000001', '2130706433'):
            try: print(socket.create_connection((name, {tcp}), 2).recv(100).decode()); break
            except OSError: pass""",
    "datagrams, as DNS uses": """
        import socket
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(2)
        s.sendto(b'?', ('127.0.0.1', {udp})); print(s.recv(100).decode())""",
    "a service's socket file": """
        import socket
        s = socket.socket(socket.AF_UNIX); s.connect('{sock}'); print(s.recv(100).decode())""",
    "an abstract socket": """
        import socket
        s = socket.socket(socket.AF_UNIX); s.connect('\\0{abstract}')
        print(s.recv(100).decode())""",
    "an interface that leads elsewhere": """
        print('REACHED' if len(open('/proc/net/dev').readlines()) > 3 else '')""",
    "writing outside": """
        open('{outside}/evil', 'w').write('x'); print('REACHED')""",
    "a signal to a process of the host": """
        import os
        os.kill({victim}, 0); print('REACHED')""",
    "the kernel's settings": """
        at = '/proc/sys/kernel/core_pattern'
        now = open(at).read(); open(at, 'w').write(now); print('REACHED')""",
    "the hash of root's password": """
        print('REACHED' if 'root:' in open('/etc/shadow').read() else '')""",
    "root's home": """
        import os
        print('REACHED' if os.listdir('/root') else '')""",
}

SYSCALLS = {
    "mount": "libc.mount(b'none', b'/tmp', b'tmpfs', 0, None)",
    "a user namespace": "libc.unshare(0x10000000)",
    "a network namespace": "libc.unshare(0x40000000)",
    "setns": "libc.setns(os.open('/proc/self/ns/mnt', os.O_RDONLY), 0)",
    "chroot": "libc.chroot(b'/tmp')",
    "becoming root": "libc.setuid(0)",
    "tracing": "trace()",
    "memory of others": "peek()",
    "a key of the kernel's": "libc.syscall(248, b'user', b'awo-test', b'x', 1, -3)",
    "bpf": "libc.syscall(321, 0, (ctypes.c_uint * 32)(2, 4, 4, 1), 128)",
    "performance counters": "libc.syscall(298, (ctypes.c_ulong * 16)(1 << 39 | 1), 0, -1, -1, 0)",
    "io_uring": "libc.syscall(425, 4, (ctypes.c_char * 120)())",
    "packets": "libc.socket(17, 3, 0x300)",
    "the kernel's ciphers": "libc.socket(38, 5, 0)",
    "raw sockets": "libc.socket(2, 3, 1)",
    "the machine's name": "libc.sethostname(b'%s', %d)",
    "the kernel's log": "libc.klogctl(10, None, 0)",
}
# EPERM, EACCES (which sockets answer), ENOSYS.
REFUSALS = (b"errno 1\n", b"errno 13\n", b"errno 38\n")
_CALL = """
import ctypes, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def trace():
    pid = os.fork()
    if pid == 0:
        os.read(0, 1) if False else __import__('time').sleep(5); os._exit(0)
    answer = libc.ptrace(16, pid, 0, 0); os.kill(pid, 9); return answer
def peek():
    data = ctypes.create_string_buffer(8)
    vec = (ctypes.c_void_p * 2)(ctypes.addressof(data), 8)
    one, none = ctypes.c_ulong(1), ctypes.c_ulong(0)
    return libc.syscall(310, os.getpid(), vec, one, vec, one, none)
answer = {call}
print('REACHED' if answer >= 0 else 'errno', ctypes.get_errno())
"""


def _unprotected(program: str, *before: str) -> str:
    done = subprocess.run(
        [*before, sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        cwd="/",
    )
    return done.stdout


async def _inside(sandbox: Sandbox, program: str) -> Execution:
    return await sandbox.execute([PYTHON, "-c", program], timeout_s=60)


def _reached(text: str) -> bool:
    return "REACHED" in text or CANARY in text


@pytest.mark.fault("H1", "H2", "H8", "H10", "G16", "N5")
@pytest.mark.parametrize("name", PROBES)
async def test_nothing_outside_is_reached(boxed: Sandbox, world: World, name: str) -> None:
    program = textwrap.dedent(PROBES[name]).strip().format(**msgspec.structs.asdict(world))
    assert _reached(_unprotected(program)), "the control did not get there: this shows nothing"
    done = await _inside(boxed, program)
    assert not _reached(done.stdout.decode()), done


@pytest.mark.fault("H3")
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="calls by the numbers of x86_64")
@pytest.mark.parametrize("name", SYSCALLS)
async def test_the_kernel_refuses(boxed: Sandbox, name: str) -> None:
    call = SYSCALLS[name]
    if "%s" in call:
        host = socket.gethostname()
        call = call % (host, len(host))
    program = _CALL.replace("{call}", call)
    done = await _inside(boxed, program)
    # Of users that there are not, the kernel says that they are invalid.
    assert done.stdout in (*REFUSALS, *((b"errno 22\n",) if name == "becoming root" else ())), done
    if name not in _NOT_HERE:
        # What it mounts and names is gone with it.
        apart = ("unshare", "--mount", "--uts", "--propagation", "private")
        assert _reached(_unprotected(program, *apart))


# What an unprotected root cannot do on every kernel or in every container either.
_NOT_HERE = ("io_uring", "performance counters", "the kernel's ciphers", "bpf", "setns")


async def test_a_program_is_given_nothing_of_ours(boxed: Sandbox) -> None:
    """No descriptor, no variable, no capability."""
    listed = "import os; print(sorted(os.listdir('/proc/self/fd')))"
    done = await _inside(boxed, listed)
    assert done.stdout.decode().strip() == "['0', '1', '2', '3']", done  # the listing's own is 3
    status = (await boxed.execute(["cat", "/proc/self/status"])).stdout.decode()
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert f"{name}:\t0000000000000000" in status
    assert "NoNewPrivs:\t1" in status and "Seccomp:\t2" in status


async def test_real_root_never_starts_it(boxed: Sandbox) -> None:
    """`bwrap` started by root would be root for the kernel, whatever it says inside."""
    running = asyncio.ensure_future(boxed.execute(["sleep", "60"]))
    found: dict[str, str] = {}
    while "sleep" not in found:
        await asyncio.sleep(0.01)
        found = _of_sandbox(boxed)
    running.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await running
    starter = {"bwrap"} if boxed.sandbox_type == "bubblewrap" else set()
    assert set(found) >= {"python3", "sleep"} | starter
    assert "0" not in found.values(), found


def _of_sandbox(sandbox: Sandbox) -> dict[str, str]:
    """Name -> real uid, of its processes as the host sees them."""
    tag = f"AWO_SANDBOX={sandbox.sandbox_identifier.partition('-')[2]}".encode()
    found = {}
    for status in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError):
            variables = status.with_name("environ").read_bytes().split(b"\0")
            words = status.with_name("cmdline").read_bytes()
            if tag in variables or b"/inner.py" in words:
                fields = dict(line.split(":\t", 1) for line in status.read_text().splitlines())
                found[fields["Name"]] = fields["Uid"].split()[0]
    return found


async def test_who_kills_the_inner_program_only_ends_its_own_box(
    boxed: Sandbox, inner_pid: int
) -> None:
    """In a container the kernel does not even deliver it."""
    from agent_work_orders.errors import Transient

    script = f"kill -9 {inner_pid}; sleep 1; echo alive"
    if boxed.sandbox_type == "container":
        assert (await boxed.execute(["/bin/sh", "-c", script])).stdout == b"alive\n"
    else:
        with pytest.raises(Transient) as lost:
            await boxed.execute(["/bin/sh", "-c", script])
        assert lost.value.code == "supervisor_lost"
    assert (await boxed.execute(["echo", "again"])).stdout == b"again\n"


async def test_the_inner_program_cannot_be_looked_into(boxed: Sandbox, inner_pid: int) -> None:
    looked = f"open('/proc/{inner_pid}/mem', 'rb')"
    done = await _inside(boxed, looked)
    assert b"PermissionError" in done.stderr
    listed = await boxed.execute(["ls", f"/proc/{inner_pid}/fd"])
    assert b"Permission denied" in listed.stderr


@pytest.fixture
def inner_pid(sandbox_type: SandboxType) -> int:
    """As programs inside see it: a box's first process is bwrap."""
    return 1 if sandbox_type == "container" else 2
