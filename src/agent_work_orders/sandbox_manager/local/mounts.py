"""Mounts of a mount namespace of our own. Standard library only."""

from __future__ import annotations

import ctypes
import os
from typing import Any

MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_SLAVE = 1, 32, 4096, 16384, 1 << 19
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_NOATIME, MS_RELATIME = 2, 4, 8, 1024, 1 << 21
ST_RELATIME = 4096
FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


_libc = ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: Any) -> None:
    if getattr(_libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def mount(source: str | None, target: str, kind: str | None, flags: int, data: str = "") -> None:
    call(
        "mount",
        os.fsencode(source) if source else None,
        os.fsencode(target),
        kind.encode() if kind else None,
        ctypes.c_ulong(flags),
        data.encode() or None,
    )


def is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def kept_flags(path: str) -> int:
    """Flags of the mount below; an unprivileged remount may not lose them."""
    have = os.statvfs(path).f_flag
    keep = have & (MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_NOATIME)
    return keep | (MS_RELATIME if have & ST_RELATIME else 0)
