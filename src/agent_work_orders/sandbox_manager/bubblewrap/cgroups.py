"""Limits of a box by control groups, of whichever kind this machine has. Where none can be made the
supervisor's own limits of a process remain (rlimits), and `kind` says so.

A group is named `awo-<data directory>-<sandbox>`: nobody else's is ever touched, and one without a
process is removed by whoever sweeps. The functions block for a moment.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from agent_work_orders.sandbox_manager.inside.limits import (
    CPU_WEIGHT_V1,
    CPU_WEIGHT_V2,
    Limits,
)
from agent_work_orders.sandbox_manager.local.programs import OrderFolder

ROOT = Path("/sys/fs/cgroup")
_PERIOD_US = 100_000

Kind = Literal["cgroup-v2", "cgroup-v1", "weak"]


class Cgroups:
    def __init__(self, tag: str, limits: Limits, root: Path = ROOT) -> None:
        self._tag = tag
        self._limits = limits
        self._root = root
        self._folders = _folders(root)
        self.kind: Kind = "weak" if not self._folders else _kind(root)

    def enter(self, folder: OrderFolder, pid: int) -> None:
        """All that the process starts from now on is limited."""
        for controller, top in self._folders.items():
            group = top / self._name(folder.spec.name)
            with contextlib.suppress(FileExistsError):
                group.mkdir()
            for name, value in self._values(controller, group):
                _write(group / name, value)
            _write(group / "cgroup.procs", str(pid))

    def leave(self, folder: OrderFolder) -> None:
        """After its processes are dead."""
        for top in set(self._folders.values()):
            with contextlib.suppress(OSError):
                (top / self._name(folder.spec.name)).rmdir()

    def sweep(self) -> int:
        """Remove those of this data directory that nobody is in any more."""
        removed = 0
        for group in self._ours():
            with contextlib.suppress(OSError):
                group.rmdir()
                removed += 1
        return removed

    def names(self) -> set[str]:
        """Of those that exist."""
        return {group.name for group in self._ours()}

    def _ours(self) -> Iterator[Path]:
        for top in set(self._folders.values()):
            yield from top.glob(f"awo-{self._tag}-*")

    def _name(self, sandbox: str) -> str:
        return f"awo-{self._tag}-{sandbox}"

    def _values(self, controller: str, group: Path) -> Iterator[tuple[str, str]]:
        limits = self._limits
        if controller in ("pids", "unified"):
            yield "pids.max", str(limits.processes)
        if controller == "memory" and limits.memory_bytes is not None:
            yield "memory.limit_in_bytes", str(limits.memory_bytes)
            if (group / "memory.memsw.limit_in_bytes").exists():
                yield "memory.memsw.limit_in_bytes", str(limits.memory_bytes)
        if controller == "cpu":
            yield "cpu.shares", str(CPU_WEIGHT_V1)
            if limits.cpus is not None:
                yield "cpu.cfs_quota_us", str(int(limits.cpus * _PERIOD_US))
        if controller == "unified":
            yield "cpu.weight", str(CPU_WEIGHT_V2)
            if limits.memory_bytes is not None:
                yield "memory.max", str(limits.memory_bytes)
                yield "memory.swap.max", "0"
            if limits.cpus is not None:
                yield "cpu.max", f"{int(limits.cpus * _PERIOD_US)} {_PERIOD_US}"


def _kind(root: Path) -> Kind:
    return "cgroup-v2" if (root / "cgroup.controllers").exists() else "cgroup-v1"


def _folders(root: Path) -> dict[str, Path]:
    """Where groups can be made, by controller; below our own group, so that what limits the server
    limits its boxes too."""
    own = dict(_own_groups())
    if (root / "cgroup.controllers").exists():
        top = root / own.get("", "").lstrip("/")
        return {"unified": top} if _usable(top) and _delegated(top) else {}
    found: dict[str, Path] = {}
    for controller in ("memory", "cpu", "cpuacct", "pids"):
        if controller in own:
            top = root / controller / own[controller].lstrip("/")
            # In a container the path is that of the machine, and our group is the top.
            top = top if top.is_dir() else root / controller
            if _usable(top):
                found[controller] = top
    return found


def _usable(top: Path) -> bool:
    return top.is_dir() and os.access(top, os.W_OK)


def _delegated(top: Path) -> bool:
    """Of version 2, children have only what the parent gives on; who is in the group itself cannot
    give on, so there a server needs to be told of a group (systemd's Delegate=)."""
    try:
        given = set((top / "cgroup.subtree_control").read_text().split())
    except OSError:
        return False
    missing = {"memory", "pids", "cpu"} - given
    try:
        if missing:
            _must_write(top / "cgroup.subtree_control", " ".join(f"+{one}" for one in missing))
    except OSError:
        return False
    return True


def _own_groups() -> Iterator[tuple[str, str]]:
    try:
        text = Path("/proc/self/cgroup").read_text()
    except OSError:
        return
    for line in text.splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            yield controller, path


def _must_write(path: Path, value: str) -> None:
    with open(path, "w") as file:
        file.write(value)


def _write(path: Path, value: str) -> None:
    """A limit that this kernel does not take is none; the others hold."""
    with contextlib.suppress(OSError):
        _must_write(path, value)
