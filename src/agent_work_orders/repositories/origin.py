"""Talking to a repository's origin: which transport, and which program serves a local path.

A local repository may belong to another user than the server. Root then runs the serving side as
that owner: nothing of the owner's configuration runs as root, and what a push writes stays
writable for the owner. Its hooks and automatic maintenance are off in any case.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from agent_work_orders.errors import Refused
from agent_work_orders.repositories.git import Git, Transport
from agent_work_orders.repositories.history import RemoteHeads, read_remote
from agent_work_orders.repositories.login import Remote
from agent_work_orders.repositories.url import RepositoryUrl

LIST_TIMEOUT_S = 30.0
SHA256_DIGITS = 64

# Command-line configuration does not reach the serving side of a local path, so it is given there.
# safe.directory: the path was named by the caller, and nothing in it is executed.
_SERVING = (
    "-c safe.directory='*' -c core.hooksPath=/dev/null -c core.alternateRefsCommand=true "
    "-c core.fsmonitor=false -c gc.auto=0 -c maintenance.auto=false -c receive.autogc=false "
    "-c receive.denyCurrentBranch=refuse -c receive.fsckObjects=true"
)


def transport(origin: RepositoryUrl) -> Transport:
    return "file" if origin.kind == "path" else origin.kind


def remote(origin: RepositoryUrl, *, writes: bool = False) -> Remote | None:
    """For servers that ask who we are by HTTP; ssh has its own way, a path needs none."""
    return Remote(url=origin.url, writes=writes) if origin.kind in ("https", "http") else None


def folders_of(path: str) -> list[str]:
    """Where a repository of this machine lives: its work tree, its `.git`, and what that shares
    with others (of a linked work tree both are elsewhere). Outermost first, none in another."""
    root = Path(os.path.realpath(path))
    found = [root.parent if root.name == ".git" else root]
    git = _pointed(root / ".git", "gitdir: ")
    if git is not None:
        common = _pointed(git / "commondir", "")
        found += [git] if common is None else [git, common]
    kept: list[Path] = []
    for folder in sorted(found):
        if not any(folder.is_relative_to(other) for other in kept):
            kept.append(folder)
    return [str(folder) for folder in kept]


def _pointed(file: Path, word: str) -> Path | None:
    """The folder that a small file names, relative to where it is."""
    try:
        with file.open("r", encoding="utf-8", errors="surrogateescape") as opened:
            text = opened.read(8_192).rstrip("\n")
    except OSError:
        return None
    if not text.startswith(word) or "\0" in text or not text[len(word) :]:
        return None
    return Path(os.path.realpath(file.parent / text[len(word) :]))


def check_path(origin: RepositoryUrl) -> None:
    """A local path must be a folder: Refused `repository_not_found` or `not_a_repository`."""
    if origin.kind != "path":
        return
    # Not Path.exists: it raises for a name that no folder can have.
    if not os.path.exists(origin.url):
        raise Refused(
            "repository_not_found",
            f"There is nothing at {origin.display}",
            hint="Check the path; it is read on the server's machine.",
            field="repository_url",
        )
    if not os.path.isdir(origin.url):
        raise Refused(
            "not_a_repository",
            f"{origin.display} is a file, not a git repository",
            hint="Give the folder that contains .git, or a bare repository.",
            field="repository_url",
        )


def serving(git: Git, origin: RepositoryUrl, program: str) -> list[str]:
    """The `--upload-pack=` / `--receive-pack=` option for a local path, else nothing."""
    if origin.kind != "path":
        return []
    command = f"{git.executable} {_SERVING} {program.removeprefix('git-')}"
    owner = _other_owner(Path(origin.url))
    setpriv = shutil.which("setpriv")
    if owner is not None and setpriv is not None:
        uid, gid = owner
        command = f"{setpriv} --reuid={uid} --regid={gid} --clear-groups {command}"
    return [f"--{program.removeprefix('git-')}={command}"]


def _other_owner(path: Path) -> tuple[int, int] | None:
    if os.geteuid() != 0:
        return None
    inner = path / ".git"
    found = (inner if inner.exists() else path).stat()
    return None if found.st_uid == 0 else (found.st_uid, found.st_gid)


async def list_heads(git: Git, origin: RepositoryUrl, *patterns: str) -> RemoteHeads:
    """HEAD and the refs that match, as they are at the origin now. Refused
    `object_format_unsupported` for a repository whose ids are not SHA-1."""
    check_path(origin)
    answer = await git.run(
        "list the repository's branches",
        [
            "ls-remote",
            "--symref",
            *serving(git, origin, "git-upload-pack"),
            "--end-of-options",
            origin.url,
            *patterns,
        ],
        transport=transport(origin),
        remote=remote(origin),
        timeout_s=LIST_TIMEOUT_S,
    )
    heads = read_remote(answer.stdout)
    if any(len(sha) == SHA256_DIGITS for sha in (heads.head_sha or "", *heads.refs.values())):
        raise Refused(
            "object_format_unsupported",
            f"{origin.display} names its commits by SHA-256",
            hint="Use a repository of git's usual format (git init --object-format=sha1).",
            field="repository_url",
        )
    return heads
