"""What a simulator shows to whoever directs it: its parts, as they are."""

from __future__ import annotations

from typing import Protocol

from github_simulator.outside.api import Api
from github_simulator.outside.credentials import Credentials
from github_simulator.outside.deliveries import Deliveries
from github_simulator.outside.faults import Faults
from github_simulator.outside.limits import Limits
from github_simulator.outside.records import Asked, Requests
from github_simulator.things.simulated_clock import SimulatedClock
from github_simulator.world import World


class Stage(Protocol):
    clock: SimulatedClock
    world: World
    credentials: Credentials
    deliveries: Deliveries
    limits: Limits
    faults: Faults
    requests: Requests
    api: Api

    @property
    def url(self) -> str: ...

    @property
    def sent_while_limited(self) -> list[Asked]:
        """What came although its sender had been told to wait."""
        ...
