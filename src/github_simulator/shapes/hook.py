"""Webhooks: what is common to all of them."""

from __future__ import annotations

from typing import Any

from github_simulator.shapes import people, repo
from github_simulator.things.accounts import Account, Installation
from github_simulator.things.repository import Repository
from github_simulator.things.stamps import node_id
from github_simulator.world import World


def payload(
    world: World,
    action: str | None,
    installation: Installation,
    sender: Account,
    repository: Repository | None,
    fields: dict[str, Any],
) -> dict[str, Any]:
    """`fields` may bring their own `installation`, as the installation's own events do, and (as
    `repository_`) their own `repository`, as a push does."""
    shape: dict[str, Any] = {} if action is None else {"action": action}
    shape |= {name.removesuffix("_"): field for name, field in fields.items()}
    if repository is not None:
        shape.setdefault("repository", repo.repository(world, repository))
        owner = world.accounts[repository.owner_id]
        if owner.kind == "Organization":
            shape["organization"] = organization(world, owner)
    shape["sender"] = people.user(world, sender)
    shape.setdefault(
        "installation",
        {"id": installation.id, "node_id": node_id("MDI", installation.id)},
    )
    return shape


def organization(world: World, account: Account) -> dict[str, Any]:
    url = f"{world.api_url}/orgs/{account.login}"
    return {
        "login": account.login,
        "id": account.id,
        "node_id": node_id("O", account.id),
        "url": url,
        "repos_url": f"{url}/repos",
        "events_url": f"{url}/events",
        "hooks_url": f"{url}/hooks",
        "issues_url": f"{url}/issues",
        "members_url": f"{url}/members{{/member}}",
        "public_members_url": f"{url}/public_members{{/member}}",
        "avatar_url": f"{world.server_url}/avatars/{account.id}",
        "description": account.name,
    }
