"""Which forge serves a repository: the hub that the operator configured, else the local one.

The address decides, not what anybody says of it: its host (and port) must be that of
`GITHUB_SERVER_URL`, and its path must be `owner/name`.
"""

from __future__ import annotations

import msgspec

from agent_work_orders.errors import Permanent
from agent_work_orders.github_integration.forge import Forge, Hub, Repository
from agent_work_orders.github_integration.full_name import SERVER_URL, full_name_of


class ServedRepository(msgspec.Struct, frozen=True, kw_only=True):
    """`hub` is the same as `forge` where there is one."""

    repository: Repository
    forge: Forge
    hub: Hub | None = None


class Forges:
    def __init__(self, local: Forge, hub: Hub | None = None, server_url: str = SERVER_URL) -> None:
        self._local = local
        self._hub = hub
        self._server_url = server_url

    @property
    def hub(self) -> Hub | None:
        """The configured one, whatever the repository."""
        return self._hub

    def at(self, key: str, url: str) -> ServedRepository:
        """The place of a repository, by the key of its mirror and its address."""
        full_name = full_name_of(url, self._server_url)
        repository = Repository(key=key, full_name=full_name)
        if self._hub is None or not full_name:
            return ServedRepository(repository=repository, forge=self._local)
        return ServedRepository(repository=repository, forge=self._hub, hub=self._hub)

    def hub_at(self, key: str, url: str) -> tuple[Hub, Repository]:
        """For what only a hub can do. Permanent `github_not_configured`."""
        place = self.at(key, url)
        if place.hub is None:
            why = "no credentials are configured" if place.repository.full_name else "it is not"
            raise Permanent(
                "github_not_configured",
                f"{url} cannot be reached as a repository of {self._server_url}: {why}",
                hint="Set GITHUB_APP_ID and GITHUB_PRIVATE_KEY, or GITHUB_TOKEN, and use an "
                "address of GITHUB_SERVER_URL.",
            )
        return place.hub, place.repository
