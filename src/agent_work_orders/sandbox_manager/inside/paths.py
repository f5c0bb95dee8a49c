"""Where programs in a place of their own see what belongs to their order."""

from __future__ import annotations

from pathlib import Path

from agent_work_orders.sandbox_manager.local.programs import OrderFolder

ORDER = "/sandbox"
"""The order's folder inside: the same for every order, so that what was built in one fits another.
Its work tree is `/sandbox/repo`."""
MIRROR = "/sandbox-mirror"
RUNTIME = "/sandbox-runtime"
HOSTNAME = "sandbox"


def seen(folder: OrderFolder, place: Path) -> str:
    """Where programs inside see a path of the order, or of its mirror."""
    if place.is_relative_to(folder.path):
        return str(Path(ORDER, place.relative_to(folder.path)))
    if place.is_relative_to(folder.mirror):
        return str(Path(MIRROR, place.relative_to(folder.mirror)))
    return str(place)
