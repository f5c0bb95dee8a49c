"""What is told to an App."""

from __future__ import annotations

from typing import Any

import msgspec


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """A webhook as one App gets it: `payload` is complete (repository, sender, installation)."""

    name: str
    action: str | None
    app_id: int
    installation_id: int
    payload: dict[str, Any]
