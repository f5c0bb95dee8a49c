"""Releases, and notes made from merged pull requests."""

from __future__ import annotations

from github_simulator.asking import access
from github_simulator.asking.paging import page
from github_simulator.call import Answer, Call, Field, Route
from github_simulator.changes import webhooks, writing
from github_simulator.rules import refusals
from github_simulator.shapes import repo
from github_simulator.things.git_store import ZERO
from github_simulator.things.repository import Release, Repository


def every(call: Call) -> Answer:
    """Newest first. Drafts are for those who can push."""
    repository = access.repository(call)
    drafts = access.can_push(call, repository)
    found = [r for r in repository.releases.values() if drafts or not r.draft]
    found.sort(key=lambda release: -release.id)
    return page(call, found, lambda each: repo.release(call.world, repository, each))


def latest(call: Call) -> Answer:
    repository = access.repository(call)
    shown = [r for r in repository.releases.values() if not (r.draft or r.prerelease)]
    found = refusals.RELEASE_MISSING.found(shown[-1] if shown else None)
    return Answer(body=repo.release(call.world, repository, found))


def by_tag(call: Call) -> Answer:
    repository, tag = access.repository(call), call.params["tag"]
    shown = (r for r in repository.releases.values() if r.tag == tag and not r.draft)
    found = refusals.RELEASE_MISSING.found(next(shown, None))
    return Answer(body=repo.release(call.world, repository, found))


def create(call: Call) -> Answer:
    repository, body, world = access.repository(call), call.body, call.world
    git, tag = world.git(repository), body["tag_name"]
    refusals.TAG_INVALID.invalid(
        not git.valid_ref(f"refs/tags/{tag}"),
        "Release",
        "tag_name",
        message="tag_name is not a valid tag",
    )
    refusals.TAG_EXISTS.invalid(
        any(release.tag == tag and not release.draft for release in repository.releases.values()),
        "Release",
        "tag_name",
        code="already_exists",
    )
    target = body.get("target_commitish") or repository.default_branch
    known = git.resolve(f"refs/tags/{tag}")
    sha = known or git.resolve(target)
    refusals.RELEASE_TARGET.invalid(sha is None, "Release", "target_commitish", code="invalid")
    draft, text = bool(body.get("draft")), body.get("body")
    if body.get("generate_release_notes"):
        made = notes(call, repository, tag, sha or "", None)
        text = f"{text}\n\n{made}" if text else made
    author = writing.author(call)
    release = Release(
        id=world.next_id(),
        tag=tag,
        target=target,
        name=body.get("name") or (tag if body.get("generate_release_notes") else None),
        body=text,
        draft=draft,
        prerelease=bool(body.get("prerelease")),
        author_id=author.id,
        created_ms=call.now_ms,
        published_ms=None if draft else call.now_ms,
    )
    repository.releases[release.id] = release
    shape = repo.release(world, repository, release)
    if not draft:
        if known is None:
            git.update(f"refs/tags/{tag}", sha or "")
            world.pushed(repository, f"refs/tags/{tag}", ZERO, sha or "", author)
        webhooks.emit(world, "release", "published", repository, author, release=shape)
    return Answer(status=201, body=shape, headers={"location": shape["url"]})


def generate(call: Call) -> Answer:
    repository, body = access.repository(call), call.body
    git, tag = call.world.git(repository), body["tag_name"]
    target = body.get("target_commitish") or repository.default_branch
    sha = git.resolve(f"refs/tags/{tag}") or git.resolve(target)
    refusals.RELEASE_TARGET.invalid(sha is None, "Release", "target_commitish", code="invalid")
    text = notes(call, repository, tag, sha or "", body.get("previous_tag_name"))
    return Answer(body={"name": tag, "body": text})


def notes(call: Call, repository: Repository, tag: str, sha: str, previous: str | None) -> str:
    """The pull requests that were merged since the release before."""
    world, git = call.world, call.world.git(repository)
    published = [r.tag for r in repository.releases.values() if not r.draft and r.tag != tag]
    since = previous or (published[-1] if published else None)
    start = git.resolve(f"refs/tags/{since}") if since else None
    inside = set(git.log(sha, *([f"^{start}"] if start else [])))
    web = repo.web_url(world, repository)
    lines = []
    for pull in repository.pulls.values():
        if pull.merged and pull.merge_commit_sha in inside:
            issue = repository.issues[pull.number]
            login = world.accounts[issue.author_id].login
            lines.append(f"* {issue.title} by @{login} in {web}/pull/{pull.number}")
    link = f"{web}/compare/{since}...{tag}" if since else f"{web}/commits/{tag}"
    changed = "## What's Changed\n" + "\n".join(lines) + "\n\n" if lines else ""
    return f"{changed}\n**Full Changelog**: {link}"


_AT = "/repos/{owner}/{repo}/releases"
_READ, _WRITE = (("contents", "read"),), (("contents", "write"),)
_FLAG = ("boolean",)
ROUTES = (
    Route(method="GET", template=_AT, operation="repos/list-releases", needs=_READ, handler=every),
    Route(
        method="GET",
        template=_AT + "/latest",
        operation="repos/get-latest-release",
        needs=_READ,
        handler=latest,
    ),
    Route(
        method="GET",
        template=_AT + "/tags/{tag}",
        operation="repos/get-release-by-tag",
        needs=_READ,
        handler=by_tag,
    ),
    Route(
        method="POST",
        template=_AT,
        operation="repos/create-release",
        needs=_WRITE,
        role="write",
        body=(
            Field(name="tag_name", required=True),
            Field(name="target_commitish"),
            Field(name="name"),
            Field(name="body"),
            Field(name="draft", kinds=_FLAG),
            Field(name="prerelease", kinds=_FLAG),
            Field(name="generate_release_notes", kinds=_FLAG),
            Field(name="make_latest", enum=("true", "false", "legacy")),
        ),
        handler=create,
    ),
    Route(
        method="POST",
        template=_AT + "/generate-notes",
        operation="repos/generate-release-notes",
        needs=_WRITE,
        role="write",
        body=(
            Field(name="tag_name", required=True),
            Field(name="target_commitish"),
            Field(name="previous_tag_name"),
            Field(name="configuration_file_path"),
        ),
        handler=generate,
    ),
)
