"""What the git steps inside of a sandbox said. Pure: an execution in, a value or a failure out."""

from __future__ import annotations

import re

import msgspec

from agent_work_orders.errors import Environmental, Permanent, Transient
from agent_work_orders.repositories.failure import end_of_stderr
from agent_work_orders.repositories.refname import is_sha
from agent_work_orders.sandbox_manager import commit_size, leftovers
from agent_work_orders.sandbox_manager.sandbox import Execution, LeftOut

# How git says that it left something out. It cuts a line at 4 KiB, which loses the reason of a path
# beyond PATH_MAX, and it does not count it as a failure.
_UNREADABLE = (b"Permission denied", b"File name too long", b"could not open directory")
# SIGKILL and SIGTERM, as a shell tells them of its child, or a git of its helper.
_KILLED_EXITS = (137, 143)
_FULL = re.compile(rb"No space left|Disk quota exceeded")
_KILLED = re.compile(rb"^Killed$|died of signal (?:9|15)\b", re.MULTILINE)


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """A tree that the mirror has now. `clean`: the workspace holds nothing else."""

    tree: str
    clean: bool
    changed: bool
    left_out: LeftOut


def read_tree(done: Execution) -> Imported:
    """What git_steps.TREE said. Paths that git refuses (look-alikes of `.git`) are left out."""
    if any(sign in done.stderr for sign in _UNREADABLE):
        raise Permanent(
            "changes_unreadable",
            f"Some of the agent's changes cannot be read: {end_of_stderr(done.stderr)}",
            hint="Retry, and tell the agent not to make such files.",
        )
    lines = done.stdout.decode("utf-8", "replace").splitlines() or [""]
    if done.success and (larger := commit_size.read(lines)) is not None:
        raise commit_size.refusal(larger)
    words = lines[0].split()
    full = _FULL.search(done.stderr) is not None
    refused = full or b"unable to write" in done.stderr
    if not done.success or refused or len(words) != 4 or not is_sha(words[0]):
        need_not_killed(done)
        if full:
            raise Environmental(
                "disk_full",
                "No space left to commit the agent's changes",
                hint="Free space on the data directory's disk; the work continues by itself.",
            )
        raise Environmental(
            "sandbox_commit_failed",
            f"The agent's changes could not be committed: {end_of_stderr(done.stderr)}",
            hint="The workspace is kept; look at the files that git names.",
        )
    return Imported(
        tree=words[0],
        clean=words[2:] == ["0", "clean"],
        changed=words[1] != "same",
        left_out=leftovers.read(lines[1:]),
    )


def need_not_killed(done: Execution) -> None:
    """Transient `sandbox_step_killed`: from outside, since our own limit is no exit."""
    code = done.exit_code if done.exit_code is not None else 128 + (done.signal or 0)
    if done.ended == "exited" and (code in _KILLED_EXITS or _KILLED.search(done.stderr)):
        raise Transient(
            "sandbox_step_killed",
            "git was killed from outside while it worked in the sandbox",
            hint="It is tried again. If that goes on, the machine has too little memory.",
        )


def setup_failed(stderr: bytes) -> Environmental:
    if _FULL.search(stderr):
        return Environmental(
            "disk_full",
            "No space left to set up the sandbox",
            hint="Free space on the data directory's disk.",
        )
    return Environmental(
        "sandbox_setup_failed",
        f"The sandbox could not be set up: {end_of_stderr(stderr)}",
        hint="The words of git above say what it missed.",
    )
