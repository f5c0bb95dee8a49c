"""What is on its way to the read side: who reads what was just caused waits for it.

An order that waits for an answer and a list of questions without it would be two truths.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

# A reader is not held by a disk that hangs.
LONGEST_S = 5.0


class Backlog:
    def __init__(self) -> None:
        self._under_way: set[asyncio.Task[None]] = set()

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def settled(self) -> None:
        """All that was begun has ended, what it began included."""
        end_s = asyncio.get_running_loop().time() + LONGEST_S
        while self._under_way and (left_s := end_s - asyncio.get_running_loop().time()) > 0:
            await asyncio.wait(set(self._under_way), timeout=left_s)
