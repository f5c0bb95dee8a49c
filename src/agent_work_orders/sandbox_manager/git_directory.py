"""A git directory written file by file: no git runs to make it, so none can be tricked by it.

The sandbox's `.git` and the private one that commits are made with are both of this form. They
borrow objects from the host's mirror through `alternates`.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from agent_work_orders.sandbox_manager import files
from agent_work_orders.sandbox_manager.agent_user import AgentUser

INDEX_LIMIT_BYTES = 512 * 1024 * 1024
# An agent's own notes for the pull request, and nested `.git` folders while a commit is made.
NEVER_COMMITTED = (".claude-pr-summary.md",)
HIDDEN_SUFFIX = ".git-set-aside"

IDENTITY = b"[user]\n\tname = agent\n\temail = agent@localhost\n"
_CONFIG = """[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
\tprotectHFS = true
\tprotectNTFS = true
\tautocrlf = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
[submodule]
\trecurse = false
"""


class Index(msgspec.Struct, frozen=True, kw_only=True):
    """The stat cache of a checkout. Git compares its time with the files' to find changes made
    within one tick of the clock, so the time is part of it."""

    data: bytes
    at_ns: int


class GitDirectory(msgspec.Struct, frozen=True, kw_only=True):
    """What one contains. `mirror` lends objects."""

    mirror: Path
    branch: str
    sha: str
    index: Index | None = None


def write(path: Path, content: GitDirectory, user: AgentUser) -> None:
    """Make it at `path`, where nothing is, owned by the agent's user."""
    excluded = "".join(f"{name}\n" for name in (*NEVER_COMMITTED, f"*{HIDDEN_SUFFIX}"))
    texts: dict[str, bytes] = {
        "HEAD": f"ref: refs/heads/{content.branch}\n".encode(),
        "config": _CONFIG.encode() + IDENTITY,
        "objects/info/alternates": os.fsencode(content.mirror / "objects") + b"\n",
        f"refs/heads/{content.branch}": f"{content.sha}\n".encode(),
        "info/exclude": excluded.encode(),
    }
    shallow = content.mirror / "shallow"
    if shallow.exists():
        texts["shallow"] = shallow.read_bytes()
    if content.index is not None:
        texts["index"] = content.index.data
    files.make_folder(path, user)
    made = {path}
    for name in ("objects/pack", "refs/tags"):
        _folders(path / name, path, made, user)
    for name, data in texts.items():
        target = path / name
        _folders(target.parent, path, made, user)
        fd = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            files.give(fd, user)
    if content.index is not None:
        os.utime(path / "index", ns=(content.index.at_ns, content.index.at_ns))


def _folders(folder: Path, root: Path, made: set[Path], user: AgentUser) -> None:
    if folder in made:
        return
    _folders(folder.parent, root, made, user)
    files.make_folder(folder, user)
    made.add(folder)
