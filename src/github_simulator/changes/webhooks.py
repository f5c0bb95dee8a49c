"""Telling every App that wants to hear of what happened."""

from __future__ import annotations

from typing import Any

from github_simulator.shapes import hook
from github_simulator.things.accounts import Account, Installation
from github_simulator.things.event import Event
from github_simulator.things.repository import Repository
from github_simulator.world import World

# These reach an App whether it asked for them or not (webhooks/webhook-events-and-payloads).
ALWAYS = ("installation", "installation_repositories", "github_app_authorization")


def emit(
    world: World,
    event: str,
    action: str | None,
    repository: Repository,
    sender: Account,
    *,
    only_app: int | None = None,
    **fields: Any,
) -> None:
    """Tell every App that is installed here, not suspended, and wants to hear of it."""
    for installation in list(world.installations_on(repository)):
        if only_app in (None, installation.app_id):
            emit_to(world, installation, event, action, sender, repository=repository, **fields)


def emit_to(
    world: World,
    installation: Installation,
    event: str,
    action: str | None,
    sender: Account,
    /,
    *,
    repository: Repository | None = None,
    **fields: Any,
) -> None:
    app = world.apps[installation.app_id]
    if event not in ALWAYS and (installation.suspended_ms or event not in app.events):
        return
    payload = hook.payload(world, action, installation, sender, repository, fields)
    told = Event(
        name=event,
        action=action,
        app_id=app.id,
        installation_id=installation.id,
        payload=payload,
    )
    for listener in world.listeners:
        listener(told)
