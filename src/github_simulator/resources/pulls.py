"""Pull requests: found, opened, changed; their files and commits."""

from __future__ import annotations

from typing import Any

import msgspec

from github_simulator.asking import access
from github_simulator.asking.paging import page
from github_simulator.call import Answer, Call, Field, Route
from github_simulator.changes import pulling, writing
from github_simulator.rules import refusals
from github_simulator.shapes import history
from github_simulator.shapes import pull as shape
from github_simulator.things.conversation import Issue
from github_simulator.things.diff import FILES_LIMIT
from github_simulator.things.repository import Repository
from github_simulator.things.review import PullRequest

# pulls/list-commits
COMMITS_LIMIT = 250


class Head(msgspec.Struct, frozen=True, kw_only=True):
    repository: Repository
    ref: str
    sha: str


def every(call: Call) -> Answer:
    repository, query = access.repository(call), call.query
    state = query.get("state", "open")
    issues = repository.issues
    found = [p for p in repository.pulls.values() if state in ("all", issues[p.number].state)]
    owner, colon, branch = query.get("head", "").partition(":")
    # Without an owner GitHub does not filter at all.
    if colon:
        logins = {id: account.login.lower() for id, account in call.world.accounts.items()}
        same = (owner.lower(), branch)
        found = [p for p in found if (logins[p.head_owner_id], p.head_ref) == same]
    if query.get("base"):
        found = [pull for pull in found if pull.base_ref == query["base"]]
    sort = query.get("sort", "created")
    descending = query.get("direction", "desc" if sort == "created" else "asc") == "desc"
    if sort == "updated":
        found.sort(key=lambda p: (issues[p.number].updated_ms, p.number), reverse=descending)
    else:
        found.sort(key=lambda p: p.number, reverse=descending)
    return page(call, found, lambda each: shape.simple(call.world, repository, each))


def get(call: Call) -> Answer:
    repository = access.repository(call)
    pull = writing.pull(call, repository)
    accept = call.headers.get("accept", "")
    if "diff" in accept:
        git = call.world.git(repository)
        start = git.merge_base(pull.base_sha, pull.head_sha) or pull.base_sha
        text = git.run("diff-tree", "-p", "--no-ext-diff", "--no-textconv", start, pull.head_sha)
        kind = "application/vnd.github.diff; charset=utf-8"
        return Answer(body=text, headers={"content-type": kind})
    return Answer(body=shape.full(call.world, repository, pull, asking=True))


def create(call: Call) -> Answer:
    repository, body, world = access.repository(call), call.body, call.world
    issue = _titled(call, repository)
    writing.check_title(body.get("title"), "PullRequest")
    writing.check_body(body.get("body"), "PullRequest")
    base = body["base"]
    tip = world.git(repository).branch(base)
    refusals.BASE_INVALID.invalid(tip is None, "PullRequest", "base", code="invalid")
    head = _head(call, repository, body["head"], body.get("head_repo"))
    access.check_role(call, head.repository, "write")
    check_open_new(call, repository, head, base, body["head"])
    refusals.NO_DRAFTS.when(body.get("draft") and not repository.drafts)
    author = writing.author(call)
    if issue is None:
        repository.last_number += 1
        issue = Issue(
            id=world.next_id(),
            number=repository.last_number,
            title=body["title"],
            body=body.get("body"),
            author_id=author.id,
            app_id=writing.via_app(call),
            created_ms=call.now_ms,
            updated_ms=call.now_ms,
        )
        repository.issues[issue.number] = issue
    issue.is_pull = True
    pull = PullRequest(
        number=issue.number,
        head_repository_id=head.repository.id,
        head_owner_id=head.repository.owner_id,
        head_ref=head.ref,
        head_sha=head.sha,
        base_ref=base,
        base_sha=tip or "",
        draft=bool(body.get("draft")),
        maintainer_can_modify=head.repository.id != repository.id
        and body.get("maintainer_can_modify", True),
    )
    repository.pulls[pull.number] = pull
    pulling.keep_head(world, repository, pull, head.repository)
    pulling.tell(world, repository, pull, "opened", author)
    made = shape.full(world, repository, pull)
    return Answer(status=201, body=made, headers={"location": made["url"]})


def _titled(call: Call, repository: Repository) -> Issue | None:
    """A pull request has a title of its own, or is made of an issue."""
    number = call.body.get("issue")
    refusals.TITLE_OR_ISSUE.invalid(
        number is None and "title" not in call.body,
        "PullRequest",
        "title",
        code="missing_field",
    )
    return None if number is None else refusals.ISSUE_MISSING.found(repository.issues.get(number))


def _head(call: Call, repository: Repository, name: str, head_repo: str | None) -> Head:
    """`branch`, or `owner:branch` of a fork."""
    world = call.world
    owner, colon, ref = name.partition(":")
    if not colon:
        owner, ref = world.accounts[repository.owner_id].login, name
    found: Head | None = None
    for other in world.repositories.values():
        own = world.accounts[other.owner_id].login.lower() == owner.lower()
        related = repository.id in (other.id, other.parent_id)
        named = head_repo in (None, other.name, world.full_name(other))
        if own and related and named and access.visible(world, call.actor, other):
            sha = world.git(other).branch(ref)
            if sha is not None:
                found = Head(repository=other, ref=ref, sha=sha)
                break
    error = {"resource": "PullRequest", "field": "head", "code": "invalid"}
    return refusals.HEAD_INVALID.found(found, errors=[error])


def check_open_new(
    call: Call, repository: Repository, head: Head, base: str, name: str, besides: int = 0
) -> None:
    """Whether there may be an open pull request from this head into this base."""
    world, git = call.world, call.world.git(repository)
    tip = git.branch(base) or ""
    if head.repository.id != repository.id:
        git.fetch(world.git_dir(head.repository), head.sha)
    shared = git.merge_base(tip, head.sha)
    refusals.UNRELATED.invalid(
        shared is None,
        "PullRequest",
        message=f"The {head.ref} branch has no history in common with {base}",
    )
    refusals.NO_COMMITS.invalid(
        shared == head.sha, "PullRequest", message=f"No commits between {base} and {name}"
    )
    owner = world.accounts[head.repository.owner_id].login
    refusals.PULL_EXISTS.invalid(
        world.refuses_second_pulls
        and any(
            (p.head_repository_id, p.head_ref, p.base_ref) == (head.repository.id, head.ref, base)
            and repository.issues[p.number].state == "open"
            and p.number != besides
            for p in repository.pulls.values()
        ),
        "PullRequest",
        message=f"A pull request already exists for {owner}:{head.ref}.",
    )


def update(call: Call) -> Answer:
    repository, body, world = access.repository(call), call.body, call.world
    pull = writing.pull(call, repository)
    issue, by = repository.issues[pull.number], writing.author(call)
    trusted = call.actor.kind == "installation" or access.can_push(call, repository)
    refusals.NOT_AUTHOR.when(not trusted and issue.author_id != by.id)
    writing.check_title(body.get("title"), "PullRequest")
    writing.check_body(body.get("body"), "PullRequest")
    state = body.get("state", issue.state)
    if state == "open" and issue.state == "closed":
        check_reopen(call, repository, pull)
    base = body.get("base", pull.base_ref)
    changes = _new_base(call, repository, pull, base) if base != pull.base_ref else {}
    for name in ("title", "body"):
        if name in body and body[name] != getattr(issue, name):
            changes[name] = {"from": getattr(issue, name) or ""}
            setattr(issue, name, body[name])
    if "maintainer_can_modify" in body and pull.head_repository_id != repository.id:
        pull.maintainer_can_modify = body["maintainer_can_modify"]
    if changes:
        writing.touch(call, issue)
        pulling.tell(world, repository, pull, "edited", by, changes=changes)
    if state != issue.state:
        act = pulling.close if state == "closed" else pulling.reopen
        act(world, repository, pull, by)
    return Answer(body=shape.full(world, repository, pull))


def _new_base(call: Call, repository: Repository, pull: PullRequest, base: str) -> dict[str, Any]:
    closed = repository.issues[pull.number].state == "closed"
    refusals.BASE_CLOSED.invalid(
        closed, "PullRequest", "base", message="Cannot change base branch of closed pull request"
    )
    tip = call.world.git(repository).branch(base)
    refusals.BASE_INVALID.invalid(tip is None, "PullRequest", "base", code="invalid")
    head = Head(
        repository=call.world.repositories[pull.head_repository_id or repository.id],
        ref=pull.head_ref,
        sha=pull.head_sha,
    )
    check_open_new(call, repository, head, base, pull.head_ref, besides=pull.number)
    before, pull.base_ref, pull.base_sha = (pull.base_ref, pull.base_sha), base, tip or ""
    return {"base": {"ref": {"from": before[0]}, "sha": {"from": before[1]}}}


def check_reopen(call: Call, repository: Repository, pull: PullRequest) -> None:
    world = call.world

    def why(reason: str) -> str:
        return f"state cannot be changed. {reason}"

    refusals.REOPEN_MERGED.invalid(
        pull.merged, "PullRequest", "state", message=why("The pull request is merged.")
    )
    head = world.repositories.get(pull.head_repository_id or 0)
    gone = head is None or world.git(head).branch(pull.head_ref) is None
    refusals.REOPEN_GONE.invalid(
        gone, "PullRequest", "state", message=why(f"The {pull.head_ref} branch has been deleted.")
    )
    other = any(
        (p.head_repository_id, p.head_ref, p.base_ref)
        == (pull.head_repository_id, pull.head_ref, pull.base_ref)
        and repository.issues[p.number].state == "open"
        for p in repository.pulls.values()
    )
    refusals.REOPEN_EXISTS.invalid(
        other,
        "PullRequest",
        "state",
        message=why(f"There is already an open pull request from {pull.head_ref}."),
    )


def files(call: Call) -> Answer:
    repository = access.repository(call)
    pull = writing.pull(call, repository)
    changed = call.world.diffs(repository).between(pull.base_sha, pull.head_sha)[:FILES_LIMIT]
    return page(
        call, changed, lambda each: history.file(call.world, repository, pull.head_sha, each)
    )


def commits(call: Call) -> Answer:
    repository = access.repository(call)
    pull = writing.pull(call, repository)
    shas = call.world.git(repository).log(f"{pull.base_sha}..{pull.head_sha}")[::-1]
    return page(
        call, shas[:COMMITS_LIMIT], lambda each: history.commit(call.world, repository, each)
    )


_ALL = "/repos/{owner}/{repo}/pulls"
_ONE = _ALL + "/{pull_number}"
_READ, _WRITE = (("pull_requests", "read"),), (("pull_requests", "write"),)
_MAYBE = ("string", "null")

ROUTES = (
    Route(
        method="GET",
        template=_ALL,
        operation="pulls/list",
        needs=_READ,
        choices={
            "state": ("open", "closed", "all"),
            "sort": ("created", "updated", "popularity", "long-running"),
            "direction": ("asc", "desc"),
        },
        handler=every,
    ),
    Route(
        method="POST",
        template=_ALL,
        operation="pulls/create",
        needs=_WRITE,
        body=(
            Field(name="title"),
            Field(name="head", required=True),
            Field(name="base", required=True),
            Field(name="head_repo"),
            Field(name="body", kinds=_MAYBE),
            Field(name="maintainer_can_modify", kinds=("boolean",)),
            Field(name="draft", kinds=("boolean",)),
            Field(name="issue", kinds=("integer",)),
        ),
        handler=create,
    ),
    Route(method="GET", template=_ONE, operation="pulls/get", needs=_READ, handler=get),
    Route(
        method="PATCH",
        template=_ONE,
        operation="pulls/update",
        needs=_WRITE,
        body=(
            Field(name="title"),
            Field(name="body", kinds=_MAYBE),
            Field(name="state", enum=("open", "closed")),
            Field(name="base"),
            Field(name="maintainer_can_modify", kinds=("boolean",)),
        ),
        handler=update,
    ),
    Route(
        method="GET",
        template=_ONE + "/files",
        operation="pulls/list-files",
        needs=_READ,
        handler=files,
    ),
    Route(
        method="GET",
        template=_ONE + "/commits",
        operation="pulls/list-commits",
        needs=_READ,
        handler=commits,
    ),
)
