"""Webhooks of repositories, beside those of Apps: the same event under another GUID.

Who has both gets everything twice, which a receiver must notice by what happened and not by the
delivery's id. A repository's hook hears what is emitted at all: an event that no installed App
wants is not. Payloads have no `installation`.
"""

from __future__ import annotations

import msgspec

from github_simulator.things.event import Event
from github_simulator.things.repository import Repository
from github_simulator.world import World


class Hook(msgspec.Struct, frozen=True, kw_only=True):
    id: int
    repository_id: int
    url: str
    secret: str = ""
    events: tuple[str, ...] = ("*",)
    content_type: str = "json"


class RepositoryHooks:
    def __init__(self, world: World) -> None:
        self._world = world
        self.all: list[Hook] = []

    def add(
        self,
        repository: Repository,
        url: str,
        *,
        secret: str = "",
        events: tuple[str, ...] = ("*",),
        content_type: str = "json",
    ) -> Hook:
        hook = Hook(
            id=self._world.next_id(),
            repository_id=repository.id,
            url=url,
            secret=secret,
            events=events,
            content_type=content_type,
        )
        self.all.append(hook)
        return hook

    def wanting(self, event: Event) -> list[tuple[Hook, Event]]:
        """The hooks that hear this event, and how. Of several Apps that get it, the event of the
        first one stands for all."""
        about = event.payload.get("repository") or {}
        repository = self._world.repositories.get(about.get("id", 0))
        if repository is None or not self.all:
            return []
        here = [
            one.id
            for one in self._world.installations_on(repository)
            if event.name in self._world.apps[one.app_id].events and one.suspended_ms is None
        ]
        if not here or event.installation_id != min(here):
            return []
        payload = {name: value for name, value in event.payload.items() if name != "installation"}
        told = msgspec.structs.replace(event, payload=payload)
        return [
            (hook, told)
            for hook in self.all
            if hook.repository_id == repository.id
            and ("*" in hook.events or event.name in hook.events)
        ]
