"""Whether a push is allowed, before git sees it, in the words that GitHub uses.

What needs the pushed objects (force pushes, merges, workflow files) is left to `push_hook`; this
module says which refs it must look at and names what it found.
"""

from __future__ import annotations

from agent_work_orders.testing.github_simulator import push_hook
from agent_work_orders.testing.github_simulator.accounts import role_at_least
from agent_work_orders.testing.github_simulator.call import Actor
from agent_work_orders.testing.github_simulator.receive_pack import ZERO, Update
from agent_work_orders.testing.github_simulator.repository import Protection, Repository
from agent_work_orders.testing.github_simulator.world import World

DECLINED = "protected branch hook declined"
HEADS = "refs/heads/"


def bypasses(world: World, repository: Repository, protection: Protection, actor: Actor) -> bool:
    """Administrators do, unless the rules are enforced for them too; Apps do not."""
    if actor.kind != "user" or protection.enforce_admins:
        return False
    return role_at_least(world.role(actor.account_id, repository), "admin")


def protection_of(repository: Repository, ref: str) -> Protection | None:
    if not ref.startswith(HEADS):
        return None
    return repository.protections.get(ref.removeprefix(HEADS))


def offence(world: World, repository: Repository, update: Update, actor: Actor) -> str | None:
    """Why this update of a protected branch is refused, or None."""
    protection = protection_of(repository, update.ref)
    if protection is None or bypasses(world, repository, protection, actor):
        return None
    if update.deletes:
        return None if protection.deletions else "Cannot delete this protected branch"
    if protection.lock_branch:
        return "Cannot change this locked branch"
    if protection.push_users is not None and not _may_push(world, protection, actor):
        return "You're not authorized to push to this branch. Visit https://docs.github.com/ "
    if update.before == ZERO:
        return "Cannot create this protected branch" if protection.block_creations else None
    if protection.reviews is not None:
        count = protection.reviews.count
        plural = "" if count == 1 else "s"
        return (
            f"At least {count} approving review{plural} is required by reviewers with write access."
        )
    if protection.checks is not None and protection.checks.contexts:
        context = protection.checks.contexts[0]
        return f'Required status check "{context}" is expected.'
    return None


def hook_environment(
    world: World, repository: Repository, updates: list[Update], actor: Actor
) -> dict[str, str]:
    """What the hook must look at in this push."""
    guarded = [
        (update.ref, protection)
        for update in updates
        if (protection := protection_of(repository, update.ref)) is not None
        and not bypasses(world, repository, protection, actor)
    ]
    app = actor.kind == "installation" and actor.permissions.get("workflows") != "write"
    return {
        push_hook.NO_FORCE: "\n".join(ref for ref, rules in guarded if not rules.force_pushes),
        push_hook.NO_MERGES: "\n".join(ref for ref, rules in guarded if rules.linear_history),
        push_hook.NO_WORKFLOWS: "1" if app else "",
    }


def spoken(found: list[tuple[str, str, str]]) -> tuple[dict[str, str], list[str]]:
    """The hook's findings (kind, ref, detail): reasons by ref, and lines for a person."""
    reasons: dict[str, str] = {}
    lines: list[str] = []
    for kind, ref, detail in found:
        if kind == "workflow":
            reasons[ref] = (
                f"refusing to allow a GitHub App to create or update workflow `{detail}` "
                "without `workflows` permission"
            )
            continue
        reasons[ref] = DECLINED
        why = {
            "force": "Cannot force-push to this branch",
            "merge": "This branch must not contain merge commits.",
        }[kind]
        lines += protected(ref, why)
    return reasons, lines


def protected(ref: str, why: str) -> list[str]:
    return [f"error: GH006: Protected branch update failed for {ref}.", f"error: {why}"]


def _may_push(world: World, protection: Protection, actor: Actor) -> bool:
    if actor.kind == "user":
        return actor.login in (protection.push_users or ())
    return actor.app_id is not None and world.apps[actor.app_id].slug in protection.push_apps
