"""Which forge serves an address: the address alone decides."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripted import Scripted

from agent_work_orders.errors import Permanent
from agent_work_orders.github_integration.forges import Forges
from agent_work_orders.github_integration.full_name import full_name_of
from agent_work_orders.github_integration.github_forge import GithubForge
from agent_work_orders.github_integration.local_forge import LocalForge

GHES = "http://127.0.0.1:9000"


@pytest.mark.parametrize(
    ("url", "server", "name"),
    [
        ("https://github.com/owner/name", "https://github.com", "owner/name"),
        ("https://github.com/owner/name.git", "https://github.com", "owner/name"),
        ("git@github.com:owner/name.git", "https://github.com", "owner/name"),
        ("ssh://git@github.com/owner/na.me", "https://github.com", "owner/na.me"),
        ("http://127.0.0.1:9000/owner/name.git", GHES, "owner/name"),
        ("http://127.0.0.1:9001/owner/name.git", GHES, ""),
        ("https://127.0.0.1:9000/owner/name.git", GHES, ""),
        ("http://github.com/owner/name", "https://github.com", ""),
        ("https://github.com.evil.example/owner/name", "https://github.com", ""),
        ("https://gitlab.com/owner/name", "https://github.com", ""),
        ("https://github.com/owner/name/more", "https://github.com", ""),
        ("https://github.com/owner", "https://github.com", ""),
        ("https://github.com/owner/..", "https://github.com", ""),
        ("https://github.com/owner/a%2fb", "https://github.com", ""),
        ("/srv/github.com:owner/name", "https://github.com", ""),
        ("git@evil.example:owner/name", "https://github.com", ""),
    ],
)
def test_the_name_on_the_server(url: str, server: str, name: str) -> None:
    assert full_name_of(url, server) == name


def test_the_hub_serves_its_own_and_only_when_configured(tmp_path: Path) -> None:
    local, hub = LocalForge(tmp_path), GithubForge(Scripted({}))
    url = "https://github.com/owner/name"
    served = Forges(local, hub).at("k", url)
    assert (served.forge, served.hub, served.repository.full_name) == (hub, hub, "owner/name")
    for forges, address in ((Forges(local), url), (Forges(local, hub), "/srv/name")):
        place = forges.at("k", address)
        assert (place.forge, place.hub) == (local, None)
        with pytest.raises(Permanent) as raised:
            forges.hub_at("k", address)
        assert raised.value.code == "github_not_configured" and raised.value.hint
    assert Forges(local, hub).hub_at("k", url) == (hub, served.repository)
