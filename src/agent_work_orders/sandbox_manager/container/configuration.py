"""What a container is made of, in the words of Docker's Engine API. Pure."""

from __future__ import annotations

from typing import Any

import msgspec

from agent_work_orders.sandbox_manager.inside.limits import (
    CPU_WEIGHT_V1,
    SHARED_MEMORY_BYTES,
    Limits,
)
from agent_work_orders.sandbox_manager.inside.paths import HOSTNAME, MIRROR, ORDER, RUNTIME

HOME_LABEL = "agent-work-orders.home"
ORDER_LABEL = "agent-work-orders.order"
SANDBOX_LABEL = "agent-work-orders.sandbox"
# What it says is only why it did not start.
_LOG_SIZE = "64k"


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """One container. Paths are of this machine, which the engine must see as they are."""

    image: str
    order: str
    mirror: str
    runtime: str
    user: str
    labels: dict[str, str]
    limits: Limits
    open_files: int
    processes_of_user: int
    outlet: bool


def configuration(wanted: Wanted) -> dict[str, Any]:
    """The body of the engine's `create`."""
    outlet = ["outlet"] if wanted.outlet else []
    return {
        "Image": wanted.image,
        # By PATH of the image: there it is in /usr/bin, /usr/local/bin or elsewhere.
        "Entrypoint": ["python3"],
        "Cmd": ["-I", "-S", f"{RUNTIME}/inner.py", "contained", *outlet],
        "User": wanted.user,
        "WorkingDir": "/",
        "Hostname": HOSTNAME,
        "Labels": wanted.labels,
        # Nothing of an image's runs but what it is asked for.
        "Healthcheck": {"Test": ["NONE"]},
        "HostConfig": {
            "NetworkMode": "none",
            "IpcMode": "private",
            "ReadonlyRootfs": True,
            "CapDrop": ["ALL"],
            "SecurityOpt": ["no-new-privileges"],
            "RestartPolicy": {"Name": "no"},
            "LogConfig": {"Type": "json-file", "Config": {"max-size": _LOG_SIZE}},
            "Mounts": _mounts(wanted),
            "ShmSize": SHARED_MEMORY_BYTES,
            **_limits(wanted),
        },
    }


def _mounts(wanted: Wanted) -> list[dict[str, Any]]:
    temporary = f"{wanted.order}/tmp"
    return [
        _bind(wanted.order, ORDER, writable=True),
        # What programs leave in these is the order's: it goes when the order's own does.
        _bind(temporary, "/tmp", writable=True),
        _bind(temporary, "/var/tmp", writable=True),
        _bind(wanted.mirror, MIRROR),
        _bind(wanted.runtime, RUNTIME),
        # Nothing of an image's people; HOME is the order's.
        {"Type": "tmpfs", "Target": "/home", "ReadOnly": True},
    ]


def _bind(source: str, target: str, *, writable: bool = False) -> dict[str, Any]:
    return {"Type": "bind", "Source": source, "Target": target, "ReadOnly": not writable}


def _limits(wanted: Wanted) -> dict[str, Any]:
    limits = wanted.limits
    # Without names the engine gives its own, which it may itself not be allowed to.
    named = {"nofile": wanted.open_files, "nproc": wanted.processes_of_user}
    found: dict[str, Any] = {
        "PidsLimit": limits.processes,
        "CpuShares": CPU_WEIGHT_V1,
        "Ulimits": [{"Name": name, "Soft": value, "Hard": value} for name, value in named.items()],
    }
    if limits.memory_bytes is not None:
        found |= {"Memory": limits.memory_bytes, "MemorySwap": limits.memory_bytes}
    if limits.cpus is not None:
        found["NanoCpus"] = int(limits.cpus * 1_000_000_000)
    return found
