"""Diffs between two commits as GitHub shows them: files with patches, and the lines on which a
review may comment."""

from __future__ import annotations

import re

import msgspec

from github_simulator.things.git_store import GitStore

# What `pulls/list-files` returns at most (3000, says its page).
FILES_LIMIT = 3000
# Beyond it GitHub leaves the patch out ("too large"); its exact number is not documented.
PATCH_LIMIT_LINES = 20_000
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_STATUS = {"A": "added", "D": "removed", "M": "modified", "R": "renamed", "C": "copied"}


class ChangedFile(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    previous: str | None
    status: str
    sha: str
    additions: int
    deletions: int
    # None: a binary file, or one with too many lines.
    patch: str | None


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a patch that a comment may stand on. `position` counts from the first hunk's
    header, which is 0."""

    side: str
    number: int
    position: int
    # The diff from its header down to this line, as a comment shows it.
    hunk: str
    # Which hunk of the file it is in.
    at: int


class Diffs:
    """Of one repository, remembered: two commits have one diff."""

    def __init__(self, git: GitStore) -> None:
        self._git = git
        self._known: dict[tuple[str, str], list[ChangedFile]] = {}

    def between(self, base: str, head: str) -> list[ChangedFile]:
        """From the merge base to the head: the three dots of a pull request."""
        start = self._git.merge_base(base, head) or base
        return self.direct(start, head)

    def direct(self, start: str, head: str) -> list[ChangedFile]:
        if (start, head) not in self._known:
            self._known[start, head] = _read(self._git, start, head)
        return self._known[start, head]


def _read(git: GitStore, start: str, head: str) -> list[ChangedFile]:
    common = ("diff-tree", "-r", "-M", "--no-ext-diff", "--no-textconv", "--full-index")
    raw = git.raw(*common, "--raw", "-z", "--no-abbrev", start, head).decode("utf-8", "replace")
    patch = git.run(*common, "-p", "--no-color", start, head)
    pieces = re.split(r"^diff --git ", patch, flags=re.MULTILINE)[1:]
    parts = raw.split("\0")
    files: list[ChangedFile] = []
    at = taken = 0
    while at < len(parts) and parts[at]:
        _, _, _, sha, letter = parts[at].lstrip(":").split(" ")
        moved = letter[0] in "RC"
        previous = parts[at + 1] if moved else None
        path = parts[at + 2] if moved else parts[at + 1]
        old_sha = parts[at].split(" ")[2]
        at += 3 if moved else 2
        piece = pieces[taken] if taken < len(pieces) else ""
        # A file that becomes a link is shown as one that goes and one that comes.
        taken += 2 if letter[0] == "T" else 1
        files.append(_file(path, previous, letter[0], old_sha if letter[0] == "D" else sha, piece))
    return files


def _file(path: str, previous: str | None, letter: str, sha: str, piece: str) -> ChangedFile:
    start = piece.find("\n@@ ")
    text = piece[start + 1 :].rstrip("\n") if start >= 0 else None
    lines = text.split("\n") if text else []
    return ChangedFile(
        path=path,
        previous=previous,
        status=_STATUS.get(letter, "changed"),
        sha=sha,
        additions=sum(line.startswith("+") for line in lines),
        deletions=sum(line.startswith("-") for line in lines),
        patch=text if len(lines) <= PATCH_LIMIT_LINES else None,
    )


def lines_of(patch: str) -> list[Line]:
    """Every line of the diff, context included: those are the ones that can be commented on."""
    found: list[Line] = []
    old = new = at = 0
    hunk: list[str] = []
    for position, text in enumerate(patch.split("\n")):
        if header := _HUNK.match(text):
            old, new = int(header[1]), int(header[3])
            hunk = [text]
            at += 1
            continue
        hunk.append(text)
        shown = "\n".join(hunk[-12:])
        if text.startswith("\\"):
            continue
        if not text.startswith("+"):
            found.append(Line(side="LEFT", number=old, position=position, hunk=shown, at=at))
            old += 1
        if not text.startswith("-"):
            found.append(Line(side="RIGHT", number=new, position=position, hunk=shown, at=at))
            new += 1
    return found


def find_line(patch: str, side: str, number: int) -> Line | None:
    lines = lines_of(patch)
    return next((line for line in lines if line.side == side and line.number == number), None)


def find_position(patch: str, position: int) -> Line | None:
    """The line at a position; of a context line the right side."""
    at = [line for line in lines_of(patch) if line.position == position]
    return at[-1] if at else None
