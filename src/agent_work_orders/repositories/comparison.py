"""Which files two commits have, and where they differ; read from the bare mirror."""

from __future__ import annotations

import msgspec

from agent_work_orders.repositories.mirror import Mirror
from agent_work_orders.repositories.refname import check_sha

ABSENT_MODE = "000000"
LINK_MODE = "120000"
PROGRAM_MODE = "100755"
FILE_MODES = ("100644", PROGRAM_MODE)


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    mode: str
    object_id: str


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """A path whose content or kind differs; None where it is not there."""

    path: str
    before: Entry | None
    after: Entry | None


async def differences(mirror: Mirror, base: str, head: str) -> list[Difference]:
    """Every path that differs, renames as a deletion and an addition."""
    answer = await mirror.git.run(
        "compare two commits",
        [
            "diff-tree",
            "-r",
            "-z",
            "--raw",
            "--no-renames",
            "--end-of-options",
            check_sha(base),
            check_sha(head),
        ],
        repository=mirror.path,
    )
    return read_raw(answer.stdout)


async def paths(mirror: Mirror, sha: str) -> frozenset[str]:
    """Every file of a commit."""
    answer = await mirror.git.run(
        "list the files of a commit",
        ["ls-tree", "-r", "-z", "--name-only", "--full-tree", check_sha(sha)],
        repository=mirror.path,
    )
    return frozenset(_name(name) for name in answer.stdout.split(b"\0") if name)


def read_raw(output: bytes) -> list[Difference]:
    """`:mode mode id id status NUL path NUL`, again and again. Pure."""
    words = output.split(b"\0")
    found = []
    for head, name in zip(words[::2], words[1::2], strict=False):
        before_mode, after_mode, before, after, _ = head.decode().lstrip(":").split(" ")
        found.append(
            Difference(
                path=_name(name),
                before=_entry(before_mode, before),
                after=_entry(after_mode, after),
            )
        )
    return found


def _entry(mode: str, object_id: str) -> Entry | None:
    return None if mode == ABSENT_MODE else Entry(mode=mode, object_id=object_id)


def _name(name: bytes) -> str:
    """Names that are no text keep their bytes, as Python's own file functions have them."""
    return name.decode("utf-8", "surrogateescape")
