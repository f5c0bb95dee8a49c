"""What lies between two commits of a bare repository: commits, numbers, patches. Reading only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from agent_work_orders.repositories.git import Git
from agent_work_orders.repositories.history import (
    DETAIL_FORMAT,
    LOG_FORMAT,
    Commit,
    CommitDetail,
    Diff,
    DiffStat,
    Progress,
    read_details,
    read_log,
    read_numstat,
)
from agent_work_orders.repositories.refname import check_sha

LOG_LIMIT = 500
# 500 messages of a size that people write, many times over.
DETAIL_LIMIT_BYTES = 4 * 1024 * 1024
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""What a commit without a parent is compared with; git knows it without storing it."""

# A file that moved is shown as that. Beyond so many, comparing all with all would take long: git
# then takes each for removed and added.
RENAMES = ("--find-renames", "-l400")
# Whatever attributes of the repository say.
NO_PROGRAMS = ("--no-ext-diff", "--no-textconv")


class Changes:
    def __init__(self, git: Git, path: Path) -> None:
        self.git = git
        self.path = path

    async def log(self, base: str, head: str, *, limit: int = LOG_LIMIT) -> tuple[Commit, ...]:
        """Commits of `head` that `base` has not, newest first."""
        out = await self._run(
            "read the log",
            [
                "log",
                "-z",
                f"--format={LOG_FORMAT}",
                f"--max-count={limit}",
                "--end-of-options",
                f"{check_sha(base)}..{check_sha(head)}",
                "--",
            ],
        )
        return read_log(out)

    async def details(self, base: str, head: str, *, limit: int) -> dict[str, CommitDetail]:
        """More about the same commits. Those behind very long messages are left out."""
        answer = await self.git.run(
            "read the log",
            [
                "log",
                "-z",
                f"--format={DETAIL_FORMAT}",
                "--shortstat",
                *RENAMES,
                *NO_PROGRAMS,
                "--diff-merges=first-parent",
                f"--max-count={limit}",
                "--end-of-options",
                f"{check_sha(base)}..{check_sha(head)}",
                "--",
            ],
            repository=self.path,
            limit_bytes=DETAIL_LIMIT_BYTES,
            cut=True,
        )
        return read_details(answer.stdout)

    async def diff_stat(self, base: str, head: str) -> DiffStat:
        answer = await self.git.run(
            "count the changes",
            ["diff-tree", "-r", "-z", "--numstat", *RENAMES, *_trees(base, head)],
            repository=self.path,
            cut=True,
        )
        return read_numstat(answer.stdout, truncated=answer.truncated)

    async def diff(
        self, base: str, head: str, *, limit_bytes: int = 1_048_576, binary: bool = False
    ) -> Diff:
        """A patch as text. No external diff, text conversion or colour, whatever attributes say.
        With `binary` it can be applied, whatever the files hold; else people can read it."""
        form = ["--binary"] if binary else []
        answer = await self.git.run(
            "make the diff",
            ["diff-tree", "-r", "-p", *form, *RENAMES, *NO_PROGRAMS, *_trees(base, head)],
            repository=self.path,
            limit_bytes=limit_bytes,
            cut=True,
        )
        return Diff(text=answer.stdout, truncated=answer.truncated)

    async def brought(self, base: str, head: str, *, limit_bytes: int) -> Diff:
        """All that the commits bring, one by one: messages, names, text and binary files, also
        what a later commit takes out again."""
        answer = await self.git.run(
            "read what the commits bring",
            [
                "log",
                "-p",
                "-m",
                "--text",
                "--unified=0",
                "--no-renames",
                *NO_PROGRAMS,
                "--format=%an%n%ae%n%B",
                "--end-of-options",
                f"{check_sha(base)}..{check_sha(head)}",
                "--",
            ],
            repository=self.path,
            limit_bytes=limit_bytes,
            cut=True,
        )
        return Diff(text=answer.stdout, truncated=answer.truncated)

    async def progress(self, base: str, head: str) -> Progress:
        commits = await self.log(base, head)
        stat = await self.diff_stat(base, head)
        last = commits[0] if commits else None
        return Progress(
            commit_count=len(commits),
            files_changed=stat.files_changed,
            lines_added=stat.lines_added,
            lines_removed=stat.lines_removed,
            last_commit_message=last.subject if last else None,
            commits=commits,
        )

    async def _run(
        self,
        action: str,
        arguments: Sequence[str],
        *,
        stdin: bytes | None = None,
        env: Mapping[str, str] | None = None,
        ok: frozenset[int] = frozenset({0}),
    ) -> bytes:
        answer = await self.git.run(
            action, arguments, repository=self.path, stdin=stdin, env=env, ok=ok
        )
        return answer.stdout


def _trees(base: str, head: str) -> list[str]:
    return ["--end-of-options", check_sha(base), check_sha(head)]
