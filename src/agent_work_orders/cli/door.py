"""The door at which a command answers that owns the data directory, while it works."""

from __future__ import annotations

import asyncio
import importlib

from agent_work_orders.bootstrap import House
from agent_work_orders.errors import Environmental


class Door:
    """Open from `open` to `close`; may be opened again."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def open(self) -> None:
        """Returns at once: it answers in a moment. Until then the owner's note in the directory
        names no address, and others wait."""
        self._closing = asyncio.Event()
        self._task = asyncio.get_running_loop().create_task(self._answer(self._closing))

    async def close(self) -> None:
        """Afterwards nobody is answered any more."""
        self._closing.set()
        if self._task is not None:
            await self._task

    async def _answer(self, closing: asyncio.Event) -> None:
        # What it needs takes a good part of a second to load, and the order goes on meanwhile.
        alongside = await asyncio.to_thread(
            importlib.import_module, "agent_work_orders.api.alongside"
        )
        if closing.is_set():
            return
        try:
            await alongside.answer(self._house, closing)
        except Environmental as error:
            # The order runs all the same; who asks is told which process has the directory.
            self._house.context.log("", "owner_unanswering", "warning", {"reason": error.message})
