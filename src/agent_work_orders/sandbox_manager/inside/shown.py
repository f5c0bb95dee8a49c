"""What programs in a place of their own are shown of ours, kept where an agent's user can reach it:
`<home>/runtime/<digest>`.

Made anew when it differs from what this version would make; replaced as a whole, by renaming, so
that a place that starts meanwhile sees the old one or the new. Blocks for a moment.
"""

from __future__ import annotations

import hashlib
import platform
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

import msgspec

from agent_work_orders.sandbox_manager.inside import seccomp
from agent_work_orders.sandbox_manager.inside.places import unavailable

_INNER = Path(__file__).with_name("inner.py")


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A file, or a link and where it leads."""

    content: bytes = b""
    link: str = ""
    mode: int = 0o644


def inner() -> Entry:
    """The program that starts the others."""
    return Entry(content=_INNER.read_bytes())


def refusals() -> bytes:
    """The filter of system calls. Environmental `sandbox_isolation_unavailable` where there is
    none for this machine."""
    rules = seccomp.filter_for(platform.machine())
    if rules is None:
        raise unavailable(
            f"no filter of system calls is known for {platform.machine()}",
            "Use an x86_64 or aarch64 machine, or another type of sandbox.",
        )
    return rules


def keep(home: Path, files: Mapping[str, Entry]) -> Path:
    """The folder that has them, by their names below it."""
    digest = hashlib.sha256(msgspec.msgpack.encode(sorted(files.items())))
    folder = home / "runtime" / digest.hexdigest()[:16]
    if not folder.is_dir():
        _write(folder, files)
    return folder


def runtime_folder(home: Path) -> Path:
    """What is passed through on the way to it."""
    place = home / "runtime"
    place.mkdir(mode=0o711, exist_ok=True)
    place.chmod(0o711)
    return place


def _write(folder: Path, files: Mapping[str, Entry]) -> None:
    above = runtime_folder(folder.parent.parent)
    making = Path(tempfile.mkdtemp(prefix=".making-", dir=above))
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
