"""What a delivery says, read from plain JSON: only the fields that decisions need. Pure.

A payload is hostile: any field may be missing, of another type, or as long as GitHub lets people
write. What decides by itself (who, where, which) must have its form, else the delivery is
`Unusable`; texts are cut and cleaned and stay texts.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Any

import msgspec

from agent_work_orders.github_integration.full_name import is_full_name
from agent_work_orders.work_orders.incoming.event_types import EVENT_TYPES, EventType

MAX_TITLE_CHARS = 300
MAX_BODY_CHARS = 60_000
"""Below an order's prompt, which also holds our own words."""
MAX_COMMENT_CHARS = 8_000
MAX_REPOSITORIES = 1_000
_LOGIN = re.compile(r"[A-Za-z0-9_-]{1,100}(?:\[bot\])?")
_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")

Json = dict[str, Any]


class Unusable(Exception):
    """The payload is not what GitHub sends for this event."""


class Person(msgspec.Struct, frozen=True, kw_only=True):
    login: str
    user_id: int
    bot: bool = False

    @property
    def mark(self) -> str:
        return f"{self.user_id}:{self.login.lower()}"


class PostedComment(msgspec.Struct, frozen=True, kw_only=True):
    """A comment, or the text of a review."""

    comment_id: int
    kind: str
    """`comment`, `review` or `review_comment`: ids are unique within one."""
    author: Person
    text: str
    by_app: bool


class CheckEvent(msgspec.Struct, frozen=True, kw_only=True):
    """A check run, or a suite of them (`suite`)."""

    check_id: int
    suite: bool
    name: str
    conclusion: str
    external_id: str
    branch: str
    """Empty for what was pushed to a fork."""
    head_sha: str
    app: str
    pulls: tuple[int, ...]


class GitHubEvent(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    action: str
    sender: Person
    at_ms: int | None = None
    """When it happened, as far as the payload tells."""
    repository_id: int = 0
    full_name: str = ""
    default_branch: str = ""
    number: int = 0
    is_pull: bool = False
    title: str = ""
    body: str = ""
    author: Person | None = None
    open: bool = True
    draft: bool = False
    labels: tuple[str, ...] = ()
    label: str = ""
    assignee: str = ""
    head_sha: str = ""
    base_branch: str = ""
    from_fork: bool = False
    remark: PostedComment | None = None
    branch: str = ""
    deleted: bool = False
    check: CheckEvent | None = None
    repositories: tuple[tuple[int, str], ...] = ()
    """Of an event about an installation."""
    account: str = ""
    """Whose installation it is."""

    @property
    def subject(self) -> str:
        if self.number:
            return f"{'pull' if self.is_pull else 'issue'}:{self.number}"
        branch = self.check.branch if self.check is not None else self.branch
        return f"branch:{branch}" if branch else ""


def read(name: str, body: bytes) -> GitHubEvent:
    """Of an event that we hear (event_types.py). Raises `Unusable`."""
    kind = EVENT_TYPES.get(name)
    if kind is None:
        raise Unusable("an event that is not heard here")
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError):
        raise Unusable("not JSON") from None
    if not isinstance(payload, dict):
        raise Unusable("not an object")
    sender = _person(payload.get("sender"))
    if sender is None:
        raise Unusable("no sender")
    event = GitHubEvent(name=name, action=_text(payload.get("action"), 64), sender=sender)
    if name in ("installation", "installation_repositories"):
        return _installation(event, payload)
    event = _repository(event, _object(payload.get("repository")))
    if kind.kind == "push":
        return _push(event, payload)
    if kind.kind == "check":
        return _check(event, _object(payload.get(name)), suite=name == "check_suite")
    match kind.about:
        case "issue":
            event = _issue(event, _object(payload.get("issue")))
        case "pull_request":
            event = _pull(event, _object(payload.get("pull_request")))
    return msgspec.structs.replace(
        event,
        label=_text(_object(payload.get("label")).get("name"), 100),
        assignee=_text(_object(payload.get("assignee")).get("login"), 100),
        remark=_remark(kind, payload),
        at_ms=_remark_time(kind, payload) or event.at_ms,
    )


def _repository(event: GitHubEvent, found: Json) -> GitHubEvent:
    full_name = _text(found.get("full_name"), 250)
    repository_id = _number(found.get("id"))
    if not repository_id or not is_full_name(full_name):
        raise Unusable("no repository")
    return msgspec.structs.replace(
        event,
        repository_id=repository_id,
        full_name=full_name,
        default_branch=_text(found.get("default_branch"), 255),
        at_ms=_time(found.get("updated_at")) if event.name == "repository" else None,
    )


def _issue(event: GitHubEvent, found: Json) -> GitHubEvent:
    return msgspec.structs.replace(
        _numbered(event, found), is_pull=isinstance(found.get("pull_request"), dict)
    )


def _numbered(event: GitHubEvent, found: Json) -> GitHubEvent:
    number = _number(found.get("number"))
    if not number:
        raise Unusable("no number")
    labels = found.get("labels")
    names = [_text(_object(one).get("name"), 100) for one in _list(labels)[:100]]
    return msgspec.structs.replace(
        event,
        number=number,
        title=_text(found.get("title"), MAX_TITLE_CHARS),
        body=_text(found.get("body"), MAX_BODY_CHARS, lines=True),
        author=_person(found.get("user")),
        open=found.get("state") == "open",
        labels=tuple(name for name in names if name),
        at_ms=_time(found.get("updated_at")),
    )


def _pull(event: GitHubEvent, found: Json) -> GitHubEvent:
    head, base = _object(found.get("head")), _object(found.get("base"))
    head_repository = _number(_object(head.get("repo")).get("id"))
    head_sha = _text(head.get("sha"), 64)
    if not _SHA.fullmatch(head_sha):
        raise Unusable("no head commit")
    return msgspec.structs.replace(
        _numbered(event, found),
        is_pull=True,
        draft=found.get("draft") is True,
        head_sha=head_sha,
        base_branch=_text(base.get("ref"), 255),
        # A head whose repository is gone was a fork.
        from_fork=head_repository != event.repository_id,
    )


def _push(event: GitHubEvent, payload: Json) -> GitHubEvent:
    ref, after = _text(payload.get("ref"), 300), _text(payload.get("after"), 64)
    if not _SHA.fullmatch(after):
        raise Unusable("no commit")
    branch = ref.removeprefix("refs/heads/") if ref.startswith("refs/heads/") else ""
    deleted = payload.get("deleted") is True or set(after) == {"0"}
    # Of a push alone it is a number of seconds.
    pushed_s = _number(_object(payload.get("repository")).get("pushed_at"))
    return msgspec.structs.replace(
        event,
        branch=branch,
        head_sha=after,
        deleted=deleted,
        at_ms=pushed_s * 1000 or None,
    )


def _check(event: GitHubEvent, found: Json, *, suite: bool) -> GitHubEvent:
    inside = found if suite else _object(found.get("check_suite"))
    head_sha = _text(found.get("head_sha"), 64)
    check_id = _number(found.get("id"))
    if not check_id or not _SHA.fullmatch(head_sha):
        raise Unusable("no check")
    pulls = [_number(_object(one).get("number")) for one in _list(found.get("pull_requests"))[:20]]
    app = _object(found.get("app"))
    check = CheckEvent(
        check_id=check_id,
        suite=suite,
        name=_text(app.get("name") if suite else found.get("name"), 200),
        conclusion=_text(found.get("conclusion"), 40),
        external_id=_text(found.get("external_id"), 250),
        branch=_text(inside.get("head_branch"), 255),
        head_sha=head_sha,
        app=_text(app.get("slug"), 100),
        pulls=tuple(number for number in pulls if number),
    )
    at_ms = _time(found.get("updated_at")) or _time(found.get("completed_at"))
    return msgspec.structs.replace(event, check=check, head_sha=head_sha, at_ms=at_ms)


def _installation(event: GitHubEvent, payload: Json) -> GitHubEvent:
    found: list[tuple[int, str]] = []
    for key in ("repositories", "repositories_removed", "repositories_added"):
        for one in _list(payload.get(key))[:MAX_REPOSITORIES]:
            repository_id = _number(_object(one).get("id"))
            full_name = _text(_object(one).get("full_name"), 250)
            if repository_id and is_full_name(full_name):
                found.append((repository_id, full_name))
    account = _person(_object(payload.get("installation")).get("account"))
    return msgspec.structs.replace(
        event,
        repositories=tuple(found),
        account="" if account is None else account.login,
    )


def _remark(kind: EventType, payload: Json) -> PostedComment | None:
    if not kind.text_in:
        return None
    found = _object(payload.get(kind.text_in))
    author, comment_id = _person(found.get("user")), _number(found.get("id"))
    if author is None or not comment_id:
        raise Unusable("no comment")
    return PostedComment(
        comment_id=comment_id,
        kind=kind.remark,
        author=author,
        text=_text(found.get("body"), MAX_COMMENT_CHARS, lines=True),
        by_app=found.get("performed_via_github_app") is not None,
    )


def _remark_time(kind: EventType, payload: Json) -> int | None:
    found = _object(payload.get(kind.text_in)) if kind.text_in else {}
    return _time(found.get("created_at")) or _time(found.get("submitted_at"))


def _person(value: Any) -> Person | None:
    found = _object(value)
    login, user_id = _text(found.get("login"), 120), _number(found.get("id"))
    if not user_id or not _LOGIN.fullmatch(login):
        return None
    bot = found.get("type") != "User" or login.endswith("[bot]")
    return Person(login=login, user_id=user_id, bot=bot)


def _object(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _number(value: Any) -> int:
    """A positive id, or 0."""
    fits = isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**53
    return value if fits else 0


def _text(value: Any, most: int, *, lines: bool = False) -> str:
    if not isinstance(value, str):
        return ""
    text = value[: most + 1].replace("\r\n", "\n")
    text = _CONTROL.sub("", text).encode("utf-8", "replace").decode()
    if not lines:
        text = " ".join(text.split())
    return text if len(text) <= most else text[:most] + (" […]" if lines else "")


def _time(value: Any) -> int | None:
    """Milliseconds of a time as GitHub writes it."""
    if not isinstance(value, str) or len(value) > 40:
        return None
    try:
        stamp = datetime.fromisoformat(value)
    except ValueError:
        return None
    return None if stamp.tzinfo is None else round(stamp.timestamp() * 1000)
