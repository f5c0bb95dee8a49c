"""What a person may do in the middle of an order, and how one sees that it was left alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from people_town import Place

from github_simulator.changes import founding

Seen = Callable[[], bool]
"""Whether what the person did still stands."""
Act = Callable[[Place], Seen]
TITLE, BODY = "A person's title", "A person's words, without a marker."


def _of_issue(**change: Any) -> Act:
    def act(place: Place) -> Seen:
        place.act("PATCH", "issues/1", change)
        issue = place.stored.issues[1]
        return lambda: all(getattr(issue, name) == value for name, value in change.items())

    return act


def _of_pull(**change: Any) -> Act:
    def act(place: Place) -> Seen:
        place.act("PATCH", f"pulls/{place.pull.number}", change)
        return lambda: all(getattr(place.text, name) == value for name, value in change.items())

    return act


def _merge(place: Place) -> Seen:
    place.pull.draft = False
    place.act("PUT", f"pulls/{place.pull.number}/merge")
    main = place.branches["main"]
    return lambda: place.pull.merged and place.branches["main"] == main


def _retarget(place: Place) -> Seen:
    place.act("POST", "git/refs", {"ref": "refs/heads/next", "sha": place.branches["main"]})
    place.act("PATCH", f"pulls/{place.pull.number}", {"base": "next"})
    return lambda: place.pull.base_ref == "next"


def _delete_branch(place: Place) -> Seen:
    name = place.branch
    place.act("DELETE", f"git/refs/heads/{name}")
    return lambda: name not in place.branches


def _push(place: Place) -> Seen:
    theirs = place.push({"theirs.txt": "theirs"})
    return lambda: theirs in place.history()


def _force_push(place: Place) -> Seen:
    ours = place.branches[place.branch]
    theirs = place.push({"theirs.txt": "theirs"}, force=True)
    return lambda: theirs in place.history() and ours not in place.history()


def _draft(wanted: bool) -> Act:
    def act(place: Place) -> Seen:
        changed = place.pull.draft != wanted
        place.pull.draft = wanted
        # One that was a draft anyway becomes ready as the order had it in mind.
        return lambda: not changed or place.pull.draft == wanted

    return act


def _lock(place: Place) -> Seen:
    locked = list(place.stored.issues.values())
    for issue in locked:
        issue.locked = True
    return lambda: all(issue.locked for issue in locked)


def _move(change: str) -> Act:
    def act(place: Place) -> Seen:
        place.move(change)
        name = place.name
        return lambda: place.name == name

    return act


def _withdraw(place: Place) -> Seen:
    world = place.town.github.world
    for installation in world.installations_on(place.stored):
        chosen = installation.repository_ids or set(world.repositories)
        left = [world.repositories[one] for one in chosen if one != place.stored.id]
        founding.select_repositories(world, installation, left, place.town.owner)
    return lambda: True


def give_access(place: Place) -> None:
    world = place.town.github.world
    for installation in world.installations.values():
        if installation.account_id == place.stored.owner_id and installation.repository_ids:
            chosen = [*installation.repository_ids, place.stored.id]
            found = [world.repositories[one] for one in chosen]
            founding.select_repositories(world, installation, found, place.town.owner)


ACTIONS: dict[str, tuple[Act | None, Act]] = {
    "closes it": (_of_issue(state="closed"), _of_pull(state="closed")),
    "merges it": (None, _merge),
    "gives it another base": (None, _retarget),
    "edits its title": (_of_issue(title=TITLE), _of_pull(title=TITLE)),
    "edits its text": (_of_issue(body=BODY), _of_pull(body=BODY)),
    "takes our marker out": (None, _of_pull(body="")),
    "deletes the branch": (None, _delete_branch),
    "pushes to the branch": (_push, _push),
    "force-pushes the branch": (None, _force_push),
    "makes it a draft": (None, _draft(True)),
    "makes it ready": (None, _draft(False)),
    "locks it": (_lock, _lock),
    "renames the repository": (_move("rename"), _move("rename")),
    "transfers the repository": (_move("transfer"), _move("transfer")),
    "takes our access away": (_withdraw, _withdraw),
}
"""Before there is a pull request (then it is the issue's, or nothing), and afterwards."""
