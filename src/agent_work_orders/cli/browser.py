"""Letting a browser in: a one-time link, and opening it where there is a desktop."""

from __future__ import annotations

import os
import sys
import webbrowser
from pathlib import Path
from urllib.parse import urlsplit

from agent_work_orders import settings as setting
from agent_work_orders.cli.client import Json, Target, remote, server_of
from agent_work_orders.cli.outcome import Told

_ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}


async def link_of(home: Path | None, url: str | None) -> Json:
    """A link of the running server: `link` and `expires_at`."""
    settings = setting.load(home=home)
    place = Target(home=home, url=url)
    server = server_of(place, settings)
    if server is None:
        raise Told(
            "server_needed",
            f"No server runs for {settings.home}",
            hint=f"Start one with `awo up --home {settings.home}`; it prints a link itself",
        )
    async with remote(place, server, settings) as client:
        made = await client.sign_in_link()
    link = reachable(server.rstrip("/")) + str(made["path"])
    return {"link": link, "expires_at": made["expires_at"]}


def reachable(url: str) -> str:
    """The address that a browser on this machine can use: one can listen everywhere, but not go
    there."""
    parts = urlsplit(url)
    host = _ANYWHERE.get(parts.hostname or "")
    return url if host is None else f"{parts.scheme}://{host}:{parts.port}"


def show(link: str) -> bool:
    """Open it in a desktop's browser. A browser inside the terminal would take the terminal, so
    without a desktop the printed link has to do."""
    desktop = sys.platform == "darwin" or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    if not desktop:
        return False
    try:
        return webbrowser.open(link)
    except webbrowser.Error:
        return False
