"""Whether and when a failed task is tried again. Chance comes from the task's own name."""

from __future__ import annotations

import zlib

from agent_work_orders.workflow_engine.events import Failure
from agent_work_orders.workflow_engine.plan import Retry

# A quarter each way spreads a herd of equal delays without changing what the author meant.
JITTER = 0.25
# Servers name the end of a quota's week; a longer wait (or infinity) is a mistake or an attack.
MAX_RETRY_AFTER_S = 7 * 86_400.0


def delay_ms(policy: Retry, failure: Failure, tries: int, salt: str) -> int | None:
    """How long to wait before the next try, or None when there is none. `tries` counts this one."""
    if failure.category not in policy.on or tries >= policy.attempts:
        return None
    delay_s = min(policy.delay_s * policy.backoff ** (tries - 1), policy.max_delay_s)
    unit = zlib.crc32(f"{salt}:{tries}".encode()) / 0xFFFFFFFF
    delay_s *= 1 - JITTER + 2 * JITTER * unit
    if failure.retry_after_s is not None:
        delay_s = max(delay_s, min(failure.retry_after_s, MAX_RETRY_AFTER_S))
    return int(delay_s * 1000)
