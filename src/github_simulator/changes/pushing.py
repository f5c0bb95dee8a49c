"""Whether somebody may move a ref: what the git server asks before it takes a push."""

from __future__ import annotations

from github_simulator.asking import access
from github_simulator.shapes import mergeability
from github_simulator.things.actor import Actor
from github_simulator.things.git_store import ZERO
from github_simulator.things.repository import Protection, Repository
from github_simulator.world import World


def refusal(
    world: World, actor: Actor, repository: Repository, ref: str, before: str, after: str
) -> str | None:
    """Why GitHub would not take it, in its words ("GH006: …"), or None. The new objects are in
    the repository already. Whether the actor may write contents at all is asked elsewhere."""
    if repository.archived:
        return "Repository was archived so is read-only."
    if ref.startswith("refs/pull/"):
        return "deny updating a hidden ref"
    branch = ref.removeprefix("refs/heads/")
    if branch == ref:
        return None
    if after == ZERO and branch == repository.default_branch:
        return f"refusing to delete the current branch: {ref}"
    rules = repository.protections.get(branch)
    if rules is None:
        return None
    admin = access.role(world, actor, repository) == "admin"
    said = _protected(world, actor, repository, rules, before, after, admin)
    return None if said is None else f"GH006: Protected branch update failed for {ref}. {said}"


def _protected(
    world: World,
    actor: Actor,
    repository: Repository,
    rules: Protection,
    before: str,
    after: str,
    admin: bool,
) -> str | None:
    if after == ZERO:
        return None if rules.deletions else "Cannot delete this protected branch"
    git = world.git(repository)
    if before != ZERO and not git.contains(after, before) and not rules.force_pushes:
        return "Cannot force-push to this protected branch"
    if rules.lock_branch:
        return "Cannot change this locked branch"
    if admin and not rules.enforce_admins:
        return None
    if rules.push_users is not None and not _named(world, actor, rules):
        return "You're not authorized to push to this branch."
    if rules.reviews is not None:
        return "Changes must be made through a pull request."
    known = mergeability.verdicts(repository, after)
    for context in rules.checks.contexts if rules.checks is not None else ():
        if known.get(context) != "passing":
            return f'Required status check "{context}" is expected.'
    return None


def _named(world: World, actor: Actor, rules: Protection) -> bool:
    if actor.kind == "installation" and actor.app_id is not None:
        return world.apps[actor.app_id].slug in rules.push_apps
    return actor.login in (rules.push_users or ())
