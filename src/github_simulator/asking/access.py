"""Who may see and do what.

What one may not see does not exist (404); what one may see but not do is forbidden (403). Public
repositories can be read by everybody, so a missing permission shows there only when writing.
"""

from __future__ import annotations

from github_simulator.call import Call, Route
from github_simulator.rules import refusals
from github_simulator.things.accounts import role_at_least
from github_simulator.things.actor import Actor
from github_simulator.things.repository import Repository
from github_simulator.world import World

LEVELS = ("none", "read", "write", "admin")


def repository(call: Call) -> Repository:
    """The repository that the path names. It was already found once when a handler asks."""
    full_name = f"{call.params['owner']}/{call.params['repo']}"
    found = call.world.repository(full_name)
    moved = call.world.moved(full_name) if found is None else None
    if moved is not None and visible(call.world, call.actor, moved):
        redirect(call, moved)
    hidden = found is not None and not visible(call.world, call.actor, found)
    refusals.HIDDEN.when(hidden)
    return refusals.NO_SUCH_REPOSITORY.found(found)


def redirect(call: Call, moved: Repository) -> None:
    """From a former name to the repository by its id."""
    rest = call.path.split("/", 4)[4:]
    location = "/".join([f"{call.world.api_url}/repositories/{moved.id}", *rest])
    writes = call.route.method != "GET"
    refusals.MOVED.when(not writes, headers={"location": location})
    refusals.MOVED_WRITE.when(writes, headers={"location": location})


def visible(world: World, actor: Actor, repository: Repository) -> bool:
    if not repository.private:
        return True
    if actor.kind == "user":
        listed = actor.repositories is None or repository.id in actor.repositories
        return listed and world.role(actor.account_id, repository) != "none"
    return actor.kind == "installation" and reaches(world, actor, repository)


def reaches(world: World, actor: Actor, repository: Repository) -> bool:
    """Whether an installation, and this token of it, includes the repository."""
    if actor.repositories is not None and repository.id not in actor.repositories:
        return False
    here = {installation.id for installation in world.installations_on(repository)}
    return actor.installation_id in here


def role(world: World, actor: Actor, repository: Repository) -> str:
    """A person's role, or the nearest to what an installation may do."""
    if actor.kind == "installation":
        if not reaches(world, actor, repository):
            return "none" if repository.private else "read"
        if actor.permissions.get("administration") == "write":
            return "admin"
        return "write" if actor.permissions.get("contents") == "write" else "read"
    own = world.role(actor.account_id, repository) if actor.kind == "user" else "none"
    return "read" if own == "none" and not repository.private else own


def check_kind(call: Call) -> None:
    """Whether this kind of credential can ask for this at all."""
    kind, by = call.actor.kind, call.route.by
    writing = call.route.method != "GET"
    refusals.SIGN_IN.when(kind == "nobody" and by != "open" and (writing or by != "any"))
    if kind == "installation":
        own = call.world.installations.get(call.actor.installation_id or 0)
        refusals.SUSPENDED.when(own is not None and own.suspended_ms is not None)
    refusals.APP_TOKEN_ONLY.when(by == "app" and kind != "app")
    refusals.NOT_WITH_APP_TOKEN.when(by != "app" and kind == "app")
    refusals.INSTALLATION_ONLY.when(by == "installation" and kind != "installation")
    refusals.PERSON_ONLY.when(by == "user" and kind == "installation")
    refusals.CHECKS_BY_APPS.when(by == "apps" and kind != "installation")


def check_permission(call: Call, repository: Repository) -> None:
    """Whether the token's permissions and the person's role suffice here."""
    actor, route = call.actor, call.route
    if actor.kind == "installation":
        free = not repository.private and route.method == "GET"
        enough = reaches(call.world, actor, repository) and allows(actor, route)
        refusals.PERMISSION.when(not enough and not free, headers=_accepted(route))
    elif actor.kind == "user":
        bound = "*" not in actor.permissions and not allows(actor, route)
        refusals.TOKEN_PERMISSION.when(bound, headers=_accepted(route))
        check_role(call, repository, route.role)


def check_role(call: Call, repository: Repository, wanted: str) -> None:
    """A person needs this role; installations have permissions instead."""
    if call.actor.kind != "user":
        return
    lacking = not role_at_least(role(call.world, call.actor, repository), wanted)
    refusals.ROLE_ADMIN.when(lacking and wanted == "admin")
    refusals.ROLE_PUSH.when(lacking and wanted != "admin")


def allows(actor: Actor, route: Route) -> bool:
    return not route.needs or any(
        permits(actor, permission, level) for permission, level in route.needs
    )


def permits(actor: Actor, permission: str, level: str) -> bool:
    have = actor.permissions.get(permission, "read" if permission == "metadata" else "none")
    return "*" in actor.permissions or LEVELS.index(have) >= LEVELS.index(level)


def require_issue_permission(call: Call, *, is_pull: bool) -> None:
    """Where issues or pull requests suffice, a plain issue wants the permission for issues."""
    if call.actor.kind == "installation" and call.route.method != "GET" and not is_pull:
        refusals.PERMISSION.when(
            not permits(call.actor, "issues", "write"), headers=_accepted(call.route)
        )


def can_push(call: Call, repository: Repository) -> bool:
    return role_at_least(role(call.world, call.actor, repository), "write")


def _accepted(route: Route) -> dict[str, str]:
    wanted = "; ".join(f"{permission}={level}" for permission, level in route.needs)
    return {"x-accepted-github-permissions": wanted}
