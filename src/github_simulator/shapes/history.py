"""Commits, files of a diff, refs, branches."""

from __future__ import annotations

import zlib
from typing import Any
from urllib.parse import quote

from github_simulator.shapes import people, repo
from github_simulator.things.accounts import Account
from github_simulator.things.diff import ChangedFile
from github_simulator.things.git_store import Person
from github_simulator.things.repository import Repository
from github_simulator.things.stamps import node_id, stamp
from github_simulator.world import World


def commit(world: World, repository: Repository, sha: str) -> dict[str, Any]:
    found = world.git(repository).commit(sha)
    url = f"{repo.api_url(world, repository)}/commits/{sha}"
    git_url = f"{repo.api_url(world, repository)}/git"
    web = f"{repo.web_url(world, repository)}/commit"
    return {
        "sha": sha,
        "node_id": node_id("C", int(sha[:15], 16)),
        "commit": {
            "author": _person(found.author),
            "committer": _person(found.committer),
            "message": found.message,
            "tree": {"sha": found.tree, "url": f"{git_url}/trees/{found.tree}"},
            "url": f"{git_url}/commits/{sha}",
            "comment_count": 0,
            "verification": {
                "verified": False,
                "reason": "unsigned",
                "signature": None,
                "payload": None,
                "verified_at": None,
            },
        },
        "url": url,
        "html_url": f"{web}/{sha}",
        "comments_url": f"{url}/comments",
        "author": _account_shape(world, found.author),
        "committer": _account_shape(world, found.committer),
        "parents": [
            {
                "sha": parent,
                "url": f"{repo.api_url(world, repository)}/commits/{parent}",
                "html_url": f"{web}/{parent}",
            }
            for parent in found.parents
        ],
    }


def whole_commit(world: World, repository: Repository, sha: str) -> dict[str, Any]:
    """With its files and their numbers."""
    git = world.git(repository)
    parents = git.commit(sha).parents
    # What git calls the empty tree: the first commit is compared with nothing.
    start = parents[0] if parents else "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
    changed = world.diffs(repository).direct(start, sha)
    additions = sum(each.additions for each in changed)
    deletions = sum(each.deletions for each in changed)
    return {
        **commit(world, repository, sha),
        "stats": {
            "total": additions + deletions,
            "additions": additions,
            "deletions": deletions,
        },
        "files": [file(world, repository, sha, each) for each in changed],
    }


def simple_commit(world: World, repository: Repository, sha: str) -> dict[str, Any]:
    """As in a check suite."""
    found = world.git(repository).commit(sha)
    return {
        "id": sha,
        "tree_id": found.tree,
        "message": found.message,
        "timestamp": stamp(found.committer.at_ms),
        "author": {"name": found.author.name, "email": found.author.email},
        "committer": {"name": found.committer.name, "email": found.committer.email},
    }


def pushed_commit(world: World, repository: Repository, sha: str) -> dict[str, Any]:
    """As in a push."""
    git = world.git(repository)
    found = git.commit(sha)
    changed = world.diffs(repository).direct(found.parents[0], sha) if found.parents else []
    named = {
        kind: [each.path for each in changed if each.status == status]
        for kind, status in (("added", "added"), ("removed", "removed"), ("modified", "modified"))
    }
    return {
        **simple_commit(world, repository, sha),
        "distinct": True,
        "url": f"{repo.web_url(world, repository)}/commit/{sha}",
        **named,
    }


def file(world: World, repository: Repository, sha: str, changed: ChangedFile) -> dict[str, Any]:
    web = repo.web_url(world, repository)
    path = quote(changed.path)
    shape = {
        "sha": changed.sha,
        "filename": changed.path,
        "status": changed.status,
        "additions": changed.additions,
        "deletions": changed.deletions,
        "changes": changed.additions + changed.deletions,
        "blob_url": f"{web}/blob/{sha}/{path}",
        "raw_url": f"{web}/raw/{sha}/{path}",
        "contents_url": f"{repo.api_url(world, repository)}/contents/{path}?ref={sha}",
    }
    if changed.patch is not None:
        shape["patch"] = changed.patch
    if changed.previous is not None:
        shape["previous_filename"] = changed.previous
    return shape


def ref(world: World, repository: Repository, name: str, sha: str) -> dict[str, Any]:
    url = f"{repo.api_url(world, repository)}/git"
    kind = world.git(repository).kind(sha)
    return {
        "ref": name,
        "node_id": node_id("REF", zlib.crc32(name.encode())),
        "url": f"{url}/{name}",
        "object": {"sha": sha, "type": kind, "url": f"{url}/{kind}s/{sha}"},
    }


def _person(person: Person) -> dict[str, Any]:
    return {"name": person.name, "email": person.email, "date": stamp(person.at_ms)}


def account_of(world: World, person: Person) -> Account | None:
    """Whose commit it is, by the address that GitHub gives everybody."""
    local, _, host = person.email.partition("@")
    if host != "users.noreply.github.com":
        return None
    return world.account(local.partition("+")[2] or local)


def _account_shape(world: World, person: Person) -> dict[str, Any] | None:
    account = account_of(world, person)
    return None if account is None else people.user(world, account)
