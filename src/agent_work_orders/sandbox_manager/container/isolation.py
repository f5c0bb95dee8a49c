"""What a container keeps apart, in words for people. Pure."""

from __future__ import annotations

from agent_work_orders.sandbox_manager.inside.limits import Limits
from agent_work_orders.sandbox_manager.sandbox import Isolation


def isolation_of(limits: Limits, answered: bool) -> Isolation:
    named = ["processes"]
    named += ["memory"] if limits.memory_bytes is not None else []
    named += ["CPU"] if limits.cpus is not None else []
    return Isolation(
        files="Own work tree and .git; the image's files read-only; own /tmp, /dev/shm and /proc. "
        "Nothing else of this machine is there: no data directory, no other orders.",
        processes="own pid, mount, IPC and host name namespaces, the engine's filter of system "
        "calls and ours, no capability, no new privileges; everything ends with the call; the "
        f"engine limits {', '.join(named)}",
        network="none of its own: no service of this machine, no private address and no name is "
        "reached. One door leads out, to a broker that lets through what the operator allows"
        if answered
        else "none at all",
        credentials="environment built from nothing; model keys stay outside, where the broker "
        "adds them"
        if answered
        else "environment built from nothing; none inside",
        summary="A container of Docker or Podman, from an image of your own: for work on what "
        "strangers wrote. The kernel is shared with this machine; whoever may use the engine's "
        "socket, as the server may, is root on it.",
    )
