"""Filling a world: what on GitHub is done by signing up, installing and clicking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from agent_work_orders.clock import Clock
from github_simulator.changes import pushes, webhooks
from github_simulator.shapes import people
from github_simulator.things.accounts import (
    Account,
    AccountKind,
    App,
    Installation,
)
from github_simulator.things.git_store import ZERO
from github_simulator.things.repository import Label, Repository
from github_simulator.world import World

# What every new repository has (issues/managing-labels#about-default-labels).
DEFAULT_LABELS = (
    ("bug", "d73a4a", "Something isn't working"),
    ("documentation", "0075ca", "Improvements or additions to documentation"),
    ("duplicate", "cfd3d7", "This issue or pull request already exists"),
    ("enhancement", "a2eeef", "New feature or request"),
    ("good first issue", "7057ff", "Good for newcomers"),
    ("help wanted", "008672", "Extra attention is needed"),
    ("invalid", "e4e669", "This doesn't seem right"),
    ("question", "d876e3", "Further information is requested"),
    ("wontfix", "ffffff", "This will not be worked on"),
)


def new_world(folder: Path, clock: Clock) -> World:
    """An empty one."""
    return World(folder, clock, pushes.pushed)


def add_account(world: World, login: str, kind: AccountKind = "User", name: str = "") -> Account:
    if world.account(login) is not None:
        raise ValueError(f"there is a {login} already")
    account = Account(
        id=world.next_id(), login=login, kind=kind, created_ms=world.now_ms(), name=name or None
    )
    world.accounts[account.id] = account
    return account


def add_app(
    world: World,
    slug: str,
    *,
    owner: Account,
    public_key: str = "",
    permissions: Mapping[str, str],
    events: Iterable[str] = (),
    webhook_url: str | None = None,
    webhook_secret: str | None = None,
) -> App:
    bot = add_account(world, f"{slug}[bot]", "Bot")
    app_id = world.next_id()
    app = App(
        id=app_id,
        slug=slug,
        name=slug,
        owner_id=owner.id,
        bot_id=bot.id,
        client_id=f"Iv23li{app_id:014d}",
        public_key=public_key,
        created_ms=world.now_ms(),
        webhook_url=webhook_url,
        webhook_secret=webhook_secret,
        events=tuple(events),
        permissions={"metadata": "read", **permissions},
    )
    world.apps[app.id] = app
    return app


def install(
    world: World,
    app: App,
    account: Account,
    repositories: Iterable[Repository] | None = None,
    *,
    permissions: Mapping[str, str] | None = None,
) -> Installation:
    """Install an App for an account; without `repositories` on all that it has and will have."""
    chosen = None if repositories is None else {repository.id for repository in repositories}
    installation = Installation(
        id=world.next_id(),
        app_id=app.id,
        account_id=account.id,
        permissions=dict(app.permissions if permissions is None else permissions),
        events=app.events,
        created_ms=world.now_ms(),
        repository_ids=chosen,
    )
    world.installations[installation.id] = installation
    tell_installation(world, installation, "created", account, with_repositories=True)
    return installation


def suspend(world: World, installation: Installation, by: Account) -> None:
    installation.suspended_ms, installation.suspended_by = world.now_ms(), by.id
    tell_installation(world, installation, "suspend", by)


def unsuspend(world: World, installation: Installation, by: Account) -> None:
    installation.suspended_ms = installation.suspended_by = None
    tell_installation(world, installation, "unsuspend", by)


def uninstall(world: World, installation: Installation, by: Account) -> None:
    tell_installation(world, installation, "deleted", by, with_repositories=True)
    del world.installations[installation.id]


def select_repositories(
    world: World, installation: Installation, repositories: Iterable[Repository], by: Account
) -> None:
    """Change on which repositories an App is installed."""
    before = set(people.installed_on(world, installation))
    installation.repository_ids = {repository.id for repository in repositories}
    after = set(people.installed_on(world, installation))
    for action, changed in (("added", after - before), ("removed", before - after)):
        if changed:
            brief = [people.brief_repository(world, i) for i in sorted(changed)]
            fields: dict[str, Any] = {
                "installation": people.installation(world, installation),
                "repository_selection": "selected",
                "repositories_added": brief if action == "added" else [],
                "repositories_removed": brief if action == "removed" else [],
                "requester": None,
            }
            webhooks.emit_to(world, installation, "installation_repositories", action, by, **fields)


def tell_installation(
    world: World,
    installation: Installation,
    action: str,
    by: Account,
    *,
    with_repositories: bool = False,
) -> None:
    fields: dict[str, Any] = {"installation": people.installation(world, installation)}
    if with_repositories:
        ids = sorted(people.installed_on(world, installation))
        fields["repositories"] = [people.brief_repository(world, i) for i in ids]
        fields["requester"] = None
    webhooks.emit_to(world, installation, "installation", action, by, **fields)


def add_repository(
    world: World,
    owner: Account,
    name: str,
    *,
    private: bool = False,
    default_branch: str = "main",
    files: Mapping[str, str | bytes | None] | None = None,
    roles: Mapping[str, str] | None = None,
) -> Repository:
    """A repository with one commit of these files, or empty without them."""
    now = world.now_ms()
    repository = Repository(
        id=world.next_id(),
        owner_id=owner.id,
        name=name,
        private=private,
        default_branch=default_branch,
        created_ms=now,
        updated_ms=now,
        pushed_ms=now,
    )
    if world.repository(f"{owner.login}/{name}") is not None:
        raise ValueError(f"there is a {owner.login}/{name} already")
    for label, color, description in DEFAULT_LABELS:
        repository.labels[label] = Label(
            id=world.next_id(), name=label, color=color, description=description, default=True
        )
    for login, role in (roles or {}).items():
        set_role(world, repository, login, role)
    world.repositories[repository.id] = repository
    world.git(repository).create(default_branch)
    if files is not None:
        world.git(repository).write(default_branch, files, "Initial commit", world.person(owner))
    return repository


def set_role(world: World, repository: Repository, login: str, role: str) -> None:
    account = world.account(login)
    if account is None:
        raise ValueError(f"there is no {login}")
    if role == "none":
        repository.roles.pop(account.id, None)
    else:
        repository.roles[account.id] = role


def add_fork(world: World, parent: Repository, owner: Account, name: str = "") -> Repository:
    fork = add_repository(
        world,
        owner,
        name or parent.name,
        private=parent.private,
        default_branch=parent.default_branch,
    )
    fork.parent_id = parent.id
    world.git(fork).fetch(world.git_dir(parent), "+refs/heads/*:refs/heads/*")
    return fork


def commit(
    world: World,
    repository: Repository,
    branch: str,
    files: Mapping[str, str | bytes | None],
    message: str,
    by: Account,
    *,
    parent: str | None = None,
) -> str:
    """A commit as if somebody had pushed it: what follows from a push follows."""
    git = world.git(repository)
    before = git.branch(branch)
    sha = git.write(branch, files, message, world.person(by), parent=parent)
    world.pushed(repository, f"refs/heads/{branch}", before or ZERO, sha, by)
    return sha


def rename(world: World, repository: Repository, name: str, by: Account) -> None:
    """The old name redirects from now on."""
    old = repository.name
    world.former_names[world.full_name(repository).lower()] = repository.id
    repository.name = name
    changes = {"repository": {"name": {"from": old}}}
    webhooks.emit(world, "repository", "renamed", repository, by, changes=changes)


def transfer(world: World, repository: Repository, owner: Account, by: Account) -> None:
    world.former_names[world.full_name(repository).lower()] = repository.id
    old = world.accounts[repository.owner_id]
    repository.owner_id = owner.id
    changes = {"owner": {"from": {"user": people.user(world, old)}}}
    webhooks.emit(world, "repository", "transferred", repository, by, changes=changes)


def archive(world: World, repository: Repository, by: Account) -> None:
    repository.archived = True
    webhooks.emit(world, "repository", "archived", repository, by)
