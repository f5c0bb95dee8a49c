"""A git directory written file by file: no git runs to make it, so none can be tricked by it.

The sandbox's `.git` and the private one that commits are made with are both of this form. They
borrow objects from the host's mirror through `alternates`.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from agent_work_orders.sandbox_manager import git_steps
from agent_work_orders.sandbox_manager.local import descriptor_files
from agent_work_orders.sandbox_manager.local.agent_user import AgentUser

INDEX_LIMIT_BYTES = 512 * 1024 * 1024
# An agent's own notes for the pull request.
NEVER_COMMITTED = (".claude-pr-summary.md",)

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
    """What one contains. `mirror` lends objects, which who reads it sees at `objects`."""

    mirror: Path
    objects: str
    branch: str
    sha: str
    index: Index | None = None
    references: bytes = b""
    """Further ones, as `packed-refs` has them."""


def write(
    staging: descriptor_files.Staging,
    folder: int,
    name: str,
    content: GitDirectory,
    user: AgentUser,
    *,
    below: str = "",
) -> None:
    """Make it in an open folder, in place of what has the name, owned by the agent's user. With
    `below` it is inside of a new folder that takes the name."""
    excluded = "".join(f"{name}\n" for name in (*NEVER_COMMITTED, f"*{git_steps.HIDDEN_SUFFIX}"))
    texts: dict[str, bytes] = {
        "HEAD": f"ref: refs/heads/{content.branch}\n".encode(),
        "config": _CONFIG.encode() + git_steps.IDENTITY,
        "objects/info/alternates": os.fsencode(content.objects) + b"\n",
        f"refs/heads/{content.branch}": f"{content.sha}\n".encode(),
        "info/exclude": excluded.encode(),
    }
    if content.references:
        texts["packed-refs"] = content.references
    shallow = content.mirror / "shallow"
    if shallow.exists():
        texts["shallow"] = shallow.read_bytes()
    times = {}
    if content.index is not None:
        texts["index"], times["index"] = content.index.data, content.index.at_ns
    staging.put_tree(
        folder,
        name,
        {below + path: data for path, data in texts.items()},
        [below + path for path in ("objects/pack", "refs/tags")],
        user,
        times={below + path: at_ns for path, at_ns in times.items()},
    )
