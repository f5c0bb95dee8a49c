"""The contract of the only way out that a place may have."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Protocol

from agent_work_orders.sandbox_manager.sandbox import Spec, WayOut


class Outlets(Protocol):
    """Who answers at the ways out of boxes."""

    def way_out(self, spec: Spec) -> WayOut:
        """What programs of a sandbox are told of theirs; the same as long as the server lives."""
        ...

    def serve(self, spec: Spec, listener: socket.socket) -> Callable[[], None]:
        """Answer at a box's listening socket, from now on, until what is returned is called."""
        ...
