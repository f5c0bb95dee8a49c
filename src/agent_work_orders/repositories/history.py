"""Reading git's porcelain: log with trailers, numstat, remote heads. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from agent_work_orders.errors import Broken

# With `-z` every field ends in NUL, which no field can contain: records are counted, not searched.
LOG_FORMAT = "tformat:%H%x00%P%x00%an%x00%ae%x00%at%x00%s%x00%(trailers:only,unfold)"
_LOG_FIELDS = 7
# Begins with NUL as well, so that the numbers that git prints between two records stand alone.
DETAIL_FORMAT = "tformat:%x00%H%x00%b"
_DETAIL_FIELDS = 3
MAX_BODY = 4_000
"""Characters of a message below its subject: enough for people, whoever wrote it."""
_COUNTS = re.compile(r"(\d+) (file|insertion|deletion)")
_TRAILER = re.compile(r"([A-Za-z0-9][A-Za-z0-9-]*): (.*)")


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    """`trailers` has the last value of each; the subject is data, whoever wrote it."""

    sha: str
    parents: tuple[str, ...]
    author_name: str
    author_email: str
    at_ms: int
    subject: str
    trailers: dict[str, str] = {}


class CommitDetail(msgspec.Struct, frozen=True, kw_only=True):
    """What a commit says below its subject, and how much it changed against its first parent."""

    body: str
    files_changed: int
    lines_added: int
    lines_removed: int


class FileChange(msgspec.Struct, frozen=True, kw_only=True):
    """`added` and `removed` are None for a binary file."""

    path: str
    added: int | None
    removed: int | None


class DiffStat(msgspec.Struct, frozen=True, kw_only=True):
    files: tuple[FileChange, ...]
    files_changed: int
    lines_added: int
    lines_removed: int
    truncated: bool = False


class Diff(msgspec.Struct, frozen=True, kw_only=True):
    text: bytes
    truncated: bool


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """What git shows of an order; the journal, not this, decides its phase."""

    commit_count: int
    files_changed: int
    lines_added: int
    lines_removed: int
    last_commit_message: str | None
    commits: tuple[Commit, ...] = ()
    missing: str = ""
    """Why nothing can be shown: its commits are not in the mirror."""


class RemoteHeads(msgspec.Struct, frozen=True, kw_only=True):
    """What the origin has: `head_branch` is None when its HEAD is detached or points nowhere."""

    head_branch: str | None
    head_sha: str | None
    refs: Mapping[str, str]

    @property
    def branches(self) -> dict[str, str]:
        prefix = "refs/heads/"
        return {k.removeprefix(prefix): v for k, v in self.refs.items() if k.startswith(prefix)}


def read_log(data: bytes) -> tuple[Commit, ...]:
    """The output of `git log -z --format=LOG_FORMAT`."""
    fields = data.decode("utf-8", "replace").split("\x00")
    if fields.pop() != "" or len(fields) % _LOG_FIELDS:
        raise Broken(
            "git_log_unreadable",
            "git log gave a record of unexpected form",
            hint="Report this with the version of git.",
        )
    commits = []
    for start in range(0, len(fields), _LOG_FIELDS):
        sha, parents, name, email, at, subject, trailers = fields[start : start + _LOG_FIELDS]
        commits.append(
            Commit(
                sha=sha,
                parents=tuple(parents.split()),
                author_name=name,
                author_email=email,
                at_ms=int(at or 0) * 1000,
                subject=subject,
                trailers=read_trailers(trailers),
            )
        )
    return tuple(commits)


def read_details(data: bytes) -> dict[str, CommitDetail]:
    """The output of `git log -z --shortstat --format=DETAIL_FORMAT`, by commit; of output that
    was cut, the commits that are whole."""
    fields = data.decode("utf-8", "replace").split("\x00")[1:]
    found = {}
    for start in range(0, len(fields) - _DETAIL_FIELDS + 1, _DETAIL_FIELDS):
        sha, body, numbers = fields[start : start + _DETAIL_FIELDS]
        counted = {what: int(number) for number, what in _COUNTS.findall(numbers)}
        found[sha] = CommitDetail(
            body=body.strip()[:MAX_BODY],
            files_changed=counted.get("file", 0),
            lines_added=counted.get("insertion", 0),
            lines_removed=counted.get("deletion", 0),
        )
    return found


def read_trailers(text: str) -> dict[str, str]:
    found = (_TRAILER.fullmatch(line) for line in text.splitlines())
    return {match[1]: match[2] for match in found if match is not None}


def read_numstat(data: bytes, *, truncated: bool = False) -> DiffStat:
    """The output of `git diff --numstat -z`. A renamed file is one, under its new name."""
    files = []
    records = iter(data.split(b"\0"))
    for record in records:
        fields = record.split(b"\t", 2)
        if len(fields) != 3:
            continue
        added, removed, path = fields
        if not path:
            # Both names follow as records of their own; cut off, there may be neither.
            path = next(records, b"") and next(records, b"")
            if not path:
                break
        files.append(
            FileChange(
                path=path.decode("utf-8", "replace"),
                added=None if added == b"-" else int(added),
                removed=None if removed == b"-" else int(removed),
            )
        )
    return DiffStat(
        files=tuple(files),
        files_changed=len(files),
        lines_added=sum(item.added or 0 for item in files),
        lines_removed=sum(item.removed or 0 for item in files),
        truncated=truncated,
    )


def read_remote(data: bytes) -> RemoteHeads:
    """The output of `git ls-remote --symref`. Peeled tags (`^{}`) are left out."""
    head_branch: str | None = None
    head_sha: str | None = None
    refs: dict[str, str] = {}
    for line in data.decode("utf-8", "replace").splitlines():
        value, _, name = line.partition("\t")
        if value.startswith("ref: ") and name == "HEAD":
            target = value.removeprefix("ref: ")
            if target.startswith("refs/heads/"):
                head_branch = target.removeprefix("refs/heads/")
        elif name == "HEAD":
            head_sha = value
        elif name and not name.endswith("^{}"):
            refs[name] = value
    return RemoteHeads(head_branch=head_branch, head_sha=head_sha, refs=refs)
