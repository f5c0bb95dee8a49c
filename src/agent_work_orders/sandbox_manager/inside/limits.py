"""How much one order's programs may use of the machine. Pure."""

from __future__ import annotations

import msgspec

# A build of a large project has a few hundred at once.
DEFAULT_PROCESSES = 2048
# Of what all others have (1024 and 100 are usual): the server answers while agents build.
CPU_WEIGHT_V1, CPU_WEIGHT_V2 = 256, 25
# In memory, so it counts against the order's memory too.
SHARED_MEMORY_BYTES = 256 * 1024 * 1024


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Of one place. None: what the machine has."""

    memory_bytes: int | None = None
    processes: int = DEFAULT_PROCESSES
    cpus: float | None = None
