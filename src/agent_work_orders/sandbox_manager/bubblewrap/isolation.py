"""What a box keeps apart, in words for people. Pure."""

from __future__ import annotations

from agent_work_orders.sandbox_manager.bubblewrap.cgroups import Kind
from agent_work_orders.sandbox_manager.sandbox import Isolation

_LIMITS = {
    "cgroup-v2": "memory, CPU and processes are limited by control groups",
    "cgroup-v1": "memory, CPU and processes are limited by control groups (version 1)",
    "weak": "processes are limited by the kernel's count for the user; memory and CPU are NOT "
    "limited, because no control group can be made here",
}


def isolation_of(limits: Kind, answered: bool) -> Isolation:
    out = (
        "none of its own: no service of this machine, no private address and no name is reached. "
        "One door leads out, to a broker that lets through what the operator allows"
        if answered
        else "none at all"
    )
    return Isolation(
        files="Own work tree and .git; the system's programs read-only; own /tmp, /home, /dev/shm "
        "and /proc. Nothing else of this machine is there: no data directory, no other orders.",
        processes="own pid, user, IPC, host name and control group namespaces, a filter of system "
        f"calls, no capability; everything ends with the call; {_LIMITS[limits]}",
        network=out,
        credentials="environment built from nothing; model keys stay outside, where the broker "
        "adds them"
        if answered
        else "environment built from nothing; none inside",
        summary="A box: for work on what strangers wrote. The kernel is shared with this machine.",
    )
