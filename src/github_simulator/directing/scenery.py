"""What whoever directs the play may ask for: typed requests and what they do to the world.

Each function is one verb of `/_simulator/`; its struct is the request's body.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec

from agent_work_orders import ids
from github_simulator.changes import checking, founding
from github_simulator.directing.stage import Stage
from github_simulator.outside import app_jwt
from github_simulator.things.accounts import Account, AccountKind, App
from github_simulator.things.actor import EVERYTHING, Actor
from github_simulator.things.repository import Repository
from github_simulator.world import World


class Missing(LookupError):
    """The request names something that does not exist."""


class NewAccount(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    login: str
    kind: AccountKind = "User"
    name: str = ""


class NewRepository(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`bundle` (a git bundle or a repository on this machine) brings a history."""

    owner: str
    name: str
    private: bool = False
    default_branch: str = "main"
    files: dict[str, str] | None = None
    roles: dict[str, str] = {}
    bundle: str = ""


class NewApp(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    slug: str
    owner: str
    permissions: dict[str, str] = {}
    events: list[str] = []
    webhook_url: str | None = None
    webhook_secret: str | None = None


class NewInstallation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Without `repositories` (full names) on all of the account's."""

    app_id: int
    account: str
    repositories: list[str] | None = None
    permissions: dict[str, str] | None = None


class Installed(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    installation_id: int
    by: str
    change: Literal["suspend", "unsuspend", "uninstall", "select"]
    repositories: list[str] = []


class NewHook(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    repository: str
    url: str
    secret: str = ""
    events: tuple[str, ...] = ("*",)
    content_type: Literal["json", "form"] = "json"


class NewToken(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    login: str
    permissions: dict[str, str] | None = None
    repositories: list[str] | None = None


class NewRole(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    repository: str
    login: str
    role: Literal["none", "read", "triage", "write", "maintain", "admin"]


class Act(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A person does what the API can do: the same routes, rules and webhooks."""

    login: str
    method: str
    path: str
    body: Any = None


class Commit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    login: str
    repository: str
    branch: str
    files: dict[str, str | None]
    message: str
    parent: str | None = None


class Rerun(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The button beside a check, or beside all of them."""

    login: str
    repository: str
    check_run_id: int
    whole_suite: bool = False
    # An action button of the check instead.
    action: str = ""


class Change(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    login: str
    repository: str
    change: Literal["rename", "transfer", "archive"]
    to: str = ""


def add_account(github: Stage, asked: NewAccount) -> dict[str, Any]:
    made = founding.add_account(github.world, asked.login, asked.kind, asked.name)
    return {"id": made.id, "login": made.login}


def add_repository(github: Stage, asked: NewRepository) -> dict[str, Any]:
    world = github.world
    made = founding.add_repository(
        world,
        account(world, asked.owner),
        asked.name,
        private=asked.private,
        default_branch=asked.default_branch,
        files=dict(asked.files) if asked.files is not None else None,
        roles=asked.roles,
    )
    if asked.bundle:
        world.git(made).fetch(Path(asked.bundle), "+refs/heads/*:refs/heads/*")
    name = world.full_name(made)
    return {"id": made.id, "full_name": name, "clone_url": f"{world.server_url}/{name}.git"}


def add_app(github: Stage, asked: NewApp) -> dict[str, Any]:
    private, public = app_jwt.new_key_pair()
    secret = asked.webhook_secret or ids.new_secret()
    made = founding.add_app(
        github.world,
        asked.slug,
        owner=account(github.world, asked.owner),
        public_key=public,
        permissions=asked.permissions,
        events=asked.events,
        webhook_url=asked.webhook_url,
        webhook_secret=secret,
    )
    return {
        "id": made.id,
        "client_id": made.client_id,
        "bot": f"{made.slug}[bot]",
        "private_key": private,
        "webhook_secret": secret,
    }


def install(github: Stage, asked: NewInstallation) -> dict[str, Any]:
    world = github.world
    chosen = None
    if asked.repositories is not None:
        chosen = [repository(world, name) for name in asked.repositories]
    made = founding.install(
        world,
        app(world, asked.app_id),
        account(world, asked.account),
        chosen,
        permissions=asked.permissions,
    )
    return {"id": made.id}


def change_installation(github: Stage, asked: Installed) -> dict[str, Any]:
    world, by = github.world, account(github.world, asked.by)
    installation = world.installations.get(asked.installation_id)
    if installation is None:
        raise Missing(f"installation {asked.installation_id}")
    match asked.change:
        case "suspend":
            founding.suspend(world, installation, by)
        case "unsuspend":
            founding.unsuspend(world, installation, by)
        case "uninstall":
            founding.uninstall(world, installation, by)
        case "select":
            chosen = [repository(world, name) for name in asked.repositories]
            founding.select_repositories(world, installation, chosen, by)
    return {}


def add_hook(github: Stage, asked: NewHook) -> dict[str, Any]:
    made = github.deliveries.hooks.add(
        repository(github.world, asked.repository),
        asked.url,
        secret=asked.secret,
        events=asked.events,
        content_type=asked.content_type,
    )
    return {"id": made.id}


def add_token(github: Stage, asked: NewToken) -> dict[str, Any]:
    chosen = None
    if asked.repositories is not None:
        chosen = [repository(github.world, name).id for name in asked.repositories]
    token = github.credentials.of_person(
        account(github.world, asked.login), permissions=asked.permissions, repositories=chosen
    )
    return {"token": token.value}


def set_role(github: Stage, asked: NewRole) -> dict[str, Any]:
    found = repository(github.world, asked.repository)
    founding.set_role(github.world, found, account(github.world, asked.login).login, asked.role)
    return {}


def act(github: Stage, asked: Act) -> dict[str, Any]:
    person = account(github.world, asked.login)
    actor = Actor(kind="user", login=person.login, account_id=person.id, permissions=EVERYTHING)
    answer = github.api.act(actor, asked.method, asked.path, asked.body)
    return {"status": answer.status, "body": answer.body}


def commit(github: Stage, asked: Commit) -> dict[str, Any]:
    """A new branch starts at the default branch unless `parent` says otherwise."""
    world = github.world
    here = repository(world, asked.repository)
    store = world.git(here)
    parent = asked.parent
    if parent is None and store.branch(asked.branch) is None:
        parent = store.branch(here.default_branch)
    sha = founding.commit(
        world,
        here,
        asked.branch,
        dict(asked.files),
        asked.message,
        account(world, asked.login),
        parent=parent,
    )
    return {"sha": sha}


def rerun(github: Stage, asked: Rerun) -> dict[str, Any]:
    world = github.world
    here, by = repository(world, asked.repository), account(world, asked.login)
    run = here.check_runs.get(asked.check_run_id)
    if run is None:
        raise Missing(f"check run {asked.check_run_id}")
    if asked.whole_suite:
        checking.rerequest_suite(world, here, run.suite_id, by)
    elif asked.action:
        checking.request_action(world, here, run, asked.action, by)
    else:
        checking.rerequest_run(world, here, run, by)
    return {}


def change_repository(github: Stage, asked: Change) -> dict[str, Any]:
    world = github.world
    here, by = repository(world, asked.repository), account(world, asked.login)
    match asked.change:
        case "rename":
            founding.rename(world, here, asked.to, by)
        case "transfer":
            founding.transfer(world, here, account(world, asked.to), by)
        case "archive":
            founding.archive(world, here, by)
    return {"full_name": world.full_name(here)}


def account(world: World, login: str) -> Account:
    found = world.account(login)
    if found is None:
        raise Missing(f"account {login}")
    return found


def repository(world: World, full_name: str) -> Repository:
    found = world.repository(full_name)
    if found is None:
        raise Missing(f"repository {full_name}")
    return found


def app(world: World, app_id: int) -> App:
    found = world.apps.get(app_id)
    if found is None:
        raise Missing(f"App {app_id}")
    return found
