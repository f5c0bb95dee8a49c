"""Accounts, Apps and installations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from github_simulator.things.accounts import Account, App, Installation
from github_simulator.things.repository import Repository
from github_simulator.things.stamps import maybe_stamp, node_id, stamp
from github_simulator.world import World

_NODES = {"User": "U", "Organization": "O", "Bot": "BOT"}
_LINKS = {
    "followers_url": "/followers",
    "following_url": "/following{/other_user}",
    "gists_url": "/gists{/gist_id}",
    "starred_url": "/starred{/owner}{/repo}",
    "subscriptions_url": "/subscriptions",
    "organizations_url": "/orgs",
    "repos_url": "/repos",
    "events_url": "/events{/privacy}",
    "received_events_url": "/received_events",
}


def user(world: World, account: Account) -> dict[str, Any]:
    url = f"{world.api_url}/users/{account.login.replace('[', '%5B').replace(']', '%5D')}"
    path = f"apps/{account.login.removesuffix('[bot]')}" if account.kind == "Bot" else account.login
    return {
        "login": account.login,
        "id": account.id,
        "node_id": node_id(_NODES[account.kind], account.id),
        "avatar_url": f"{world.server_url}/avatars/{account.id}",
        "gravatar_id": "",
        "url": url,
        "html_url": f"{world.server_url}/{path}",
        **{name: url + tail for name, tail in _LINKS.items()},
        "type": account.kind,
        "site_admin": False,
        "user_view_type": "public",
    }


def user_by_id(world: World, account_id: int | None) -> dict[str, Any] | None:
    return None if account_id is None else user(world, world.accounts[account_id])


def profile(world: World, account: Account) -> dict[str, Any]:
    at = stamp(account.created_ms)
    owned = [r for r in world.repositories.values() if r.owner_id == account.id and not r.private]
    nothing = ("company", "blog", "location", "email", "hireable", "bio", "twitter_username")
    return {
        **user(world, account),
        "name": account.name,
        **dict.fromkeys(nothing),
        "public_repos": len(owned),
        "public_gists": 0,
        "followers": 0,
        "following": 0,
        "created_at": at,
        "updated_at": at,
    }


def own_profile(world: World, account: Account) -> dict[str, Any]:
    counts = ("private_gists", "total_private_repos", "owned_private_repos", "disk_usage")
    return {
        **profile(world, account),
        **dict.fromkeys(counts, 0),
        "collaborators": 0,
        "two_factor_authentication": True,
    }


def app(world: World, app: App) -> dict[str, Any]:
    return {
        "id": app.id,
        "slug": app.slug,
        "node_id": node_id("A", app.id),
        "client_id": app.client_id,
        "owner": user(world, world.accounts[app.owner_id]),
        "name": app.name,
        "description": "",
        "external_url": world.server_url,
        "html_url": f"{world.server_url}/apps/{app.slug}",
        "created_at": stamp(app.created_ms),
        "updated_at": stamp(app.created_ms),
        "permissions": dict(app.permissions),
        "events": list(app.events),
    }


def app_by_id(world: World, app_id: int | None) -> dict[str, Any] | None:
    return None if app_id is None else app(world, world.apps[app_id])


def installation(world: World, installation: Installation) -> dict[str, Any]:
    account = world.accounts[installation.account_id]
    own = world.apps[installation.app_id]
    return {
        "id": installation.id,
        "account": user(world, account),
        "repository_selection": "all" if installation.repository_ids is None else "selected",
        "access_tokens_url": f"{world.api_url}/app/installations/{installation.id}/access_tokens",
        "repositories_url": f"{world.api_url}/installation/repositories",
        "html_url": f"{world.server_url}/settings/installations/{installation.id}",
        "app_id": own.id,
        "client_id": own.client_id,
        "app_slug": own.slug,
        "target_id": account.id,
        "target_type": account.kind,
        "permissions": dict(installation.permissions),
        "events": list(installation.events),
        "created_at": stamp(installation.created_ms),
        "updated_at": stamp(installation.created_ms),
        "single_file_name": None,
        "has_multiple_single_files": False,
        "single_file_paths": [],
        "suspended_by": user_by_id(world, installation.suspended_by),
        "suspended_at": maybe_stamp(installation.suspended_ms),
    }


def installed_on(world: World, installation: Installation) -> Iterator[int]:
    for repository in world.repositories.values():
        chosen = installation.repository_ids
        if repository.owner_id == installation.account_id:
            if chosen is None or repository.id in chosen:
                yield repository.id


def brief_repository(world: World, repository_id: int) -> dict[str, Any]:
    """As in the list of an installation's webhook."""
    repository = world.repositories[repository_id]
    return {
        "id": repository.id,
        "node_id": node_id("R", repository.id),
        "name": repository.name,
        "full_name": world.full_name(repository),
        "private": repository.private,
    }


def association(world: World, repository: Repository, account_id: int) -> str:
    if account_id == repository.owner_id:
        return "OWNER"
    if account_id in world.accounts[repository.owner_id].members:
        return "MEMBER"
    if account_id in repository.roles:
        return "COLLABORATOR"
    merged = (n for n, pull in repository.pulls.items() if pull.merged)
    if any(repository.issues[number].author_id == account_id for number in merged):
        return "CONTRIBUTOR"
    return "NONE"
