"""Commits and comparisons."""

from __future__ import annotations

from github_simulator.asking import access
from github_simulator.asking.paging import page
from github_simulator.call import Answer, Call, Route
from github_simulator.rules import refusals
from github_simulator.shapes import history, repo
from github_simulator.things.diff import FILES_LIMIT
from github_simulator.things.git_store import GitStore
from github_simulator.things.repository import Repository

# repos/compare-commits: up to 250 commits, and 300 files.
COMPARED_COMMITS = 250
COMPARED_FILES = 300


def every(call: Call) -> Answer:
    repository = access.repository(call)
    git = call.world.git(repository)
    start = call.query.get("sha") or repository.default_branch
    sha = refusals.REF_UNKNOWN.found(git.resolve(start))
    shas = git.log(sha, path=call.query.get("path", ""))
    return page(call, shas, lambda each: history.commit(call.world, repository, each))


def one(call: Call) -> Answer:
    repository, ref = access.repository(call), call.params["ref"]
    git = call.world.git(repository)
    found = git.resolve(ref) or git.resolve(f"refs/{ref}")
    sha = refusals.COMMIT_MISSING.found(found, f"No commit found for SHA: {ref}")
    accept = call.headers.get("accept", "")
    if "sha" in accept:
        return Answer(body=sha, headers={"content-type": "application/vnd.github.sha"})
    whole = history.whole_commit(call.world, repository, sha)
    whole["files"] = whole["files"][:FILES_LIMIT]
    return Answer(body=whole)


def compare(call: Call) -> Answer:
    repository = access.repository(call)
    git = call.world.git(repository)
    base_name, dots, head_name = call.params["basehead"].partition("...")
    base = refusals.COMPARE_MISSING.found(_side(call, repository, git, base_name))
    head = refusals.COMPARE_MISSING.found(_side(call, repository, git, head_name) if dots else None)
    start = refusals.COMPARE_MISSING.found(git.merge_base(base, head))
    ahead, behind = git.count(f"{base}..{head}"), git.count(f"{head}..{base}")
    status = "identical" if not ahead and not behind else "ahead"
    if behind:
        status = "diverged" if ahead else "behind"
    web = f"{repo.web_url(call.world, repository)}/compare/{base_name}...{head_name}"
    commits = git.log(f"{base}..{head}", limit=COMPARED_COMMITS)[::-1]
    changed = call.world.diffs(repository).direct(start, head)[:COMPARED_FILES]
    return Answer(
        body={
            "url": f"{repo.api_url(call.world, repository)}/compare/{base_name}...{head_name}",
            "html_url": web,
            "permalink_url": web,
            "diff_url": f"{web}.diff",
            "patch_url": f"{web}.patch",
            "base_commit": history.commit(call.world, repository, base),
            "merge_base_commit": history.commit(call.world, repository, start),
            "status": status,
            "ahead_by": ahead,
            "behind_by": behind,
            "total_commits": ahead,
            "commits": [history.commit(call.world, repository, each) for each in commits],
            "files": [history.file(call.world, repository, head, each) for each in changed],
        }
    )


def _side(call: Call, repository: Repository, git: GitStore, name: str) -> str | None:
    """A ref of this repository, or `owner:branch` of a fork, whose commits are fetched here."""
    owner, colon, branch = name.partition(":")
    if not colon:
        return git.resolve(name)
    for other in call.world.repositories.values():
        own = call.world.accounts[other.owner_id].login.lower() == owner.lower()
        related = repository.id in (other.id, other.parent_id) or other.id == repository.parent_id
        if own and related and access.visible(call.world, call.actor, other):
            sha = call.world.git(other).resolve(branch)
            if sha is not None and other.id != repository.id:
                git.fetch(call.world.git_dir(other), sha)
            return sha
    return None


_READ = (("contents", "read"),)
ROUTES = (
    Route(
        method="GET",
        template="/repos/{owner}/{repo}/commits",
        operation="repos/list-commits",
        needs=_READ,
        handler=every,
    ),
    Route(
        method="GET",
        template="/repos/{owner}/{repo}/commits/{ref}",
        operation="repos/get-commit",
        needs=_READ,
        handler=one,
    ),
    Route(
        method="GET",
        template="/repos/{owner}/{repo}/compare/{basehead}",
        operation="repos/compare-commits-with-basehead",
        needs=_READ,
        handler=compare,
    ),
)
