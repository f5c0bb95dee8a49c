"""Whether a push is allowed, in git's own report and in the words that GitHub uses.

`pushing` has the rules. What needs objects that are only on their way (force pushes, merges,
workflow files) is looked at by `push_hook` in git's quarantine; this module says which refs it
must look at, and names what it found.
"""

from __future__ import annotations

from github_simulator.asking import access
from github_simulator.changes import pushing
from github_simulator.outside import push_hook
from github_simulator.outside.receive_pack import ZERO, Update
from github_simulator.things.actor import Actor
from github_simulator.things.repository import Repository
from github_simulator.world import World

DECLINED = "protected branch hook declined"
OTHERS_DECLINED = "pre-receive hook declined"
HEADS = "refs/heads/"


def offence(world: World, repository: Repository, update: Update, actor: Actor) -> str | None:
    """Why this update is refused, as far as that can be known without its objects. A ref that is
    made anew has no history to lose, so `pushing` does not look for the objects."""
    before = update.before if update.deletes else ZERO
    return pushing.refusal(world, actor, repository, update.ref, before, update.after)


def spoken(ref: str, why: str) -> tuple[str, list[str]]:
    """The reason beside the ref, and lines for a person."""
    first, found, rest = why.partition(f"for {ref}. ")
    if not found:
        return why, []
    return DECLINED, [f"error: {first}for {ref}.", f"error: {rest}"]


def hook_environment(
    world: World, repository: Repository, updates: list[Update], actor: Actor
) -> dict[str, str]:
    """What the hook must look at in this push."""
    guarded = [
        (update.ref, rules)
        for update in updates
        if update.ref.startswith(HEADS)
        and (rules := repository.protections.get(update.ref.removeprefix(HEADS))) is not None
    ]
    admin = access.role(world, actor, repository) == "admin"
    linear = [r for r, rules in guarded if rules.linear_history]
    if admin:
        linear = [r for r, rules in guarded if rules.linear_history and rules.enforce_admins]
    app = actor.kind == "installation" and actor.permissions.get("workflows") != "write"
    return {
        push_hook.NO_FORCE: "\n".join(ref for ref, rules in guarded if not rules.force_pushes),
        push_hook.NO_MERGES: "\n".join(linear),
        push_hook.NO_WORKFLOWS: "1" if app else "",
    }


def found_by_hook(kind: str, ref: str, detail: str) -> tuple[str, list[str]]:
    """The same for what the hook found."""
    if kind == "workflow":
        reason = (
            f"refusing to allow a GitHub App to create or update workflow `{detail}` "
            "without `workflows` permission"
        )
        return reason, []
    if kind == "large":
        return OTHERS_DECLINED, [
            "error: GH001: Large files detected. You may want to try Git Large File Storage - "
            "https://git-lfs.github.com.",
            f"error: File {detail} exceeds GitHub's file size limit of 100.00 MB",
        ]
    if kind == "secret":
        return "push declined due to repository rule violations", [
            f"error: GH013: Repository rule violations found for {ref}.",
            "- GITHUB PUSH PROTECTION",
            "    - Push cannot contain secrets",
            f"        path: {detail.partition(':')[2]}",
        ]
    why = {
        "force": "Cannot force-push to this protected branch",
        "merge": "This branch must not contain merge commits.",
    }[kind]
    return spoken(ref, f"GH006: Protected branch update failed for {ref}. {why}")
