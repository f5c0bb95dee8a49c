"""The API beside a command that owns the data directory: other terminals and a browser talk to it
as they would to a server (decision 18).

It listens at a free port of loopback and lets in who has a key of the directory, as `awo up` does.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator

import uvicorn

from agent_work_orders.api.app import create_app
from agent_work_orders.api.server import address_of, bind, config
from agent_work_orders.bootstrap import House

_LOOPBACK = "127.0.0.1"


async def answer(house: House, until: asyncio.Event) -> None:
    """Listen, say where, and answer until asked to end. Environmental `address_unusable`."""
    with bind(_LOOPBACK, 0) as listening:
        address = address_of(listening)
        app = create_app(house, address)
        server = _Server(config(app), house, f"http://{address}")
        serving = asyncio.get_running_loop().create_task(server.serve(sockets=[listening]))
        asked = asyncio.get_running_loop().create_task(until.wait())
        await asyncio.wait([serving, asked], return_when=asyncio.FIRST_COMPLETED)
        # Who asks from now on finds no address; answers that are under way are given.
        house.lock.announce("")
        app.state.live_updates.close()
        server.should_exit = True
        asked.cancel()
        await serving


class _Server(uvicorn.Server):
    """Signals stay with the command."""

    def __init__(self, config: uvicorn.Config, house: House, url: str) -> None:
        super().__init__(config)
        self._house = house
        self._url = url

    async def startup(self, sockets: object = None) -> None:
        await super().startup(sockets)  # type: ignore[arg-type]
        if self.started and not self.should_exit:
            self._house.lock.announce(self._url)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
