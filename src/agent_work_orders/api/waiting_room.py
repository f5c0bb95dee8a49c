"""Where bodies of strangers stand until their signature is known: bounded, and fair.

Rules:
- Small bodies have room of their own. Nobody who sends large ones can take it.
- Small room is never refused: when it is full, the body that has been coming for the longest time
  is sent away. One that is genuine comes in a moment; one that blocks is the oldest soon.
- Large bodies share the rest, and no address may have all of it. When there is no room, one that
  creeps is sent away for the new one; when none creeps, the new one is.
- Of the addresses, the one that holds the most gives first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from agent_work_orders.api.pace import Pace
from agent_work_orders.errors import Unavailable

SMALL_BYTES = 256 * 1024
"""Nine of ten deliveries are below 32 kB; only pushes of many commits are above this."""
SMALL_ROOM_BYTES = 32 * 1024 * 1024
LARGE_ROOM_BYTES = 96 * 1024 * 1024
LARGE_PER_ADDRESS_BYTES = 64 * 1024 * 1024
"""Two of GitHub's most (25 MB): one address cannot fill the room."""
CREEPS_BELOW_BYTES_PER_S = 1024 * 1024
CREEPS_AFTER_S = 1.0
"""GitHub gives a delivery 10 s, so one of 25 MB that may still arrive is twice as fast."""


class Guest:
    """One body."""

    def __init__(self, address: str, pace: Pace) -> None:
        self.address = address
        self.pace = pace
        self.size = 0
        self.large = False
        self.sent_away = False

    @property
    def creeps(self) -> bool:
        slow = self.pace.bytes_per_s < CREEPS_BELOW_BYTES_PER_S
        return slow and self.pace.age_s >= CREEPS_AFTER_S


class WaitingRoom:
    def __init__(
        self, small_bytes: int = SMALL_ROOM_BYTES, large_bytes: int = LARGE_ROOM_BYTES
    ) -> None:
        self._room = {False: small_bytes, True: large_bytes}
        self._guests: dict[Guest, None] = {}
        self._held = {False: 0, True: 0}
        self._large_of: Counter[str] = Counter()

    @property
    def held_bytes(self) -> int:
        return sum(self._held.values())

    def enter(self, guest: Guest) -> None:
        self._guests[guest] = None

    def add(self, guest: Guest, size: int) -> None:
        """More of a body came. Unavailable `webhook_busy`: it is for another time."""
        self._count(guest, -guest.size)
        guest.size += size
        guest.large = guest.size > SMALL_BYTES
        self._count(guest, guest.size)
        while guest.large and self._large_of[guest.address] > LARGE_PER_ADDRESS_BYTES:
            self._send_away(_slowest(self._beside(guest, guest.address)))
        while self._held[guest.large] > self._room[guest.large]:
            others = _of_the_greediest(self._beside(guest))
            # The small ones are in the order of arrival.
            self._send_away(_slowest(others) if guest.large else next(iter(others), None))

    def leave(self, guest: Guest) -> None:
        if guest in self._guests:
            del self._guests[guest]
            self._count(guest, -guest.size)

    def _count(self, guest: Guest, size: int) -> None:
        self._held[guest.large] += size
        if guest.large:
            self._large_of[guest.address] += size
            if not self._large_of[guest.address]:
                del self._large_of[guest.address]

    def _beside(self, guest: Guest, address: str | None = None) -> list[Guest]:
        """Others of its kind that hold something."""
        return [
            one
            for one in self._guests
            if one.large == guest.large
            and one is not guest
            and one.size
            and (address is None or one.address == address)
        ]

    def _send_away(self, guest: Guest | None) -> None:
        if guest is None:
            raise busy()
        guest.sent_away = True
        self.leave(guest)
        guest.pace.end()


def _of_the_greediest(guests: list[Guest]) -> list[Guest]:
    held: Counter[str] = Counter()
    for one in guests:
        held[one.address] += one.size
    most = max(held, key=lambda address: held[address], default="")
    return [one for one in guests if one.address == most]


def _slowest(guests: Iterable[Guest]) -> Guest | None:
    creeping = [one for one in guests if one.creeps]
    return min(creeping, key=lambda one: one.pace.bytes_per_s, default=None)


def busy() -> Unavailable:
    return Unavailable(
        "webhook_busy", "Too many large deliveries come at once", hint="Redeliver it later."
    )
