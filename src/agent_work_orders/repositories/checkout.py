"""A mirror's commit as a working tree of a person, anywhere on this machine."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from agent_work_orders.errors import Conflict, Refused
from agent_work_orders.repositories.mirror import Mirror
from agent_work_orders.repositories.refname import check_branch

# The person's own fetch gives the origin's branches the same names.
_KNOWN = ("+refs/remotes/origin/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*")


async def check_out(mirror: Mirror, ref: str, branch: str, folder: Path, origin: str) -> None:
    """A repository of its own at `folder`, with `branch` at the reference and `origin` as remote;
    there whole or not at all. Conflict `folder_in_use` unless it is empty or not there;
    Refused `folder_unusable`."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Conflict(
            "folder_in_use", f"{folder} is there and not empty", hint="Name another folder."
        )
    making = folder.with_name(f".{folder.name}.making")
    shutil.rmtree(making, ignore_errors=True)
    try:
        making.mkdir(parents=True)
    except OSError as error:
        raise Refused(
            "folder_unusable",
            f"{folder} cannot be made ({error.strerror})",
            hint="Name another folder.",
        ) from error
    git, inside = mirror.git, making / ".git"
    what = "check out the order's work"
    try:
        await git.run(what, ["init", "--quiet", "--template=", str(making)])
        refspecs = [f"+{ref}:refs/heads/{check_branch(branch)}", *_KNOWN]
        fetch = ["fetch", "--quiet", "--no-write-fetch-head", "--end-of-options", str(mirror.path)]
        await git.run(what, [*fetch, *refspecs], repository=inside, transport="file")
        await git.run(what, ["remote", "add", "origin", origin], repository=inside)
        await git.run(what, [f"--work-tree={making}", "checkout", "-q", branch], repository=inside)
        os.rename(making, folder)
    except BaseException:
        shutil.rmtree(making, ignore_errors=True)
        raise
