"""One bare repository per origin, owned by the host; every order reads and writes through it.

Rules: nothing in it is ever a work tree. Branches of the origin are under refs/remotes/origin,
what an order made is under refs/awo/orders/<order id>, and moves only by compare-and-swap.
No automatic collection runs: objects borrowed by a sandbox never disappear.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

import msgspec

from agent_work_orders.errors import Broken, Conflict, Failed, Refused, TooLarge
from agent_work_orders.repositories.git import Git
from agent_work_orders.repositories.history import (
    DETAIL_FORMAT,
    LOG_FORMAT,
    Commit,
    CommitDetail,
    Diff,
    DiffStat,
    Progress,
    RemoteHeads,
    read_details,
    read_log,
    read_numstat,
)
from agent_work_orders.repositories.refname import check_branch, check_sha, is_sha
from agent_work_orders.repositories.url import RepositoryUrl

ABSENT = "0" * 40
MAX_IMPORT_BYTES = 2 * 1024**3
LOG_LIMIT = 500
# 500 messages of a size that people write, many times over.
DETAIL_LIMIT_BYTES = 4 * 1024 * 1024
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""What a commit without a parent is compared with; git knows it without storing it."""


class Base(msgspec.Struct, frozen=True, kw_only=True):
    """Where an order starts."""

    branch: str
    sha: str


class Mirror:
    """Made by `Mirrors.ensure` (fresh heads) or `Mirrors.at` (what is on disk)."""

    def __init__(
        self, git: Git, path: Path, origin: RepositoryUrl | None, heads: RemoteHeads | None
    ) -> None:
        self.git = git
        self.path = path
        self.key = path.name.removesuffix(".git")
        self.origin = origin
        self.heads = heads

    def resolve_base(self, branch: str | None) -> Base:
        """The branch an order starts from, by name or the origin's default; never a guess.

        Refused: `repository_empty`, `detached_head`, `base_branch_missing`, `branch_name_invalid`.
        """
        heads = self.heads
        if heads is None:
            raise Broken(
                "origin_not_listed",
                "The base was asked of a stored copy whose origin was not listed",
                hint="Report this with the order's log.",
            )
        branches = heads.branches
        if not branches:
            raise Refused(
                "repository_empty",
                "The repository has no branch with a commit",
                hint="Make a first commit, then try again.",
                field="repository_url",
            )
        if branch is None and heads.head_branch is None and heads.head_sha is not None:
            raise Refused(
                "detached_head",
                "The repository's HEAD is detached, so it has no default branch",
                hint=f"Name the base branch; it has {_some(branches)}.",
                field="base_branch",
            )
        wanted = heads.head_branch if branch is None else check_branch(branch)
        if wanted is None or wanted not in branches:
            raise Refused(
                "base_branch_missing",
                f"The repository has no branch {wanted or 'that HEAD names'}",
                hint=f"Name one that exists; it has {_some(branches)}.",
                field="base_branch",
            )
        return Base(branch=wanted, sha=branches[wanted])

    async def has_commit(self, sha: str) -> bool:
        check_sha(sha)
        answer = await self.git.run(
            "look for a commit",
            ["cat-file", "-e", f"{sha}^{{tree}}"],
            repository=self.path,
            ok=frozenset({0, 1, 128}),
        )
        return answer.exit_code == 0

    async def lacks(self, shas: Sequence[str]) -> list[str]:
        """Those of these commits that are not here, or not with their tree."""
        answer = await self.git.run(
            "look for commits",
            ["cat-file", "--batch-check"],
            repository=self.path,
            stdin="".join(f"{check_sha(sha)}^{{tree}}\n" for sha in shas).encode(),
        )
        found = answer.stdout.splitlines()
        return [sha for sha, line in zip(shas, found, strict=True) if b" tree " not in line]

    async def is_ancestor(self, older: str, newer: str) -> bool:
        """Whether `newer` contains `older`, which may be itself. Both must be there."""
        answer = await self.git.run(
            "compare two commits",
            ["merge-base", "--is-ancestor", check_sha(older), check_sha(newer)],
            repository=self.path,
            ok=frozenset({0, 1}),
        )
        return answer.exit_code == 0

    async def ref(self, name: str) -> str | None:
        out = await self._run(
            "read a reference", ["rev-parse", "--verify", "--quiet", name], ok=frozenset({0, 1})
        )
        text = out.decode().strip()
        return text if is_sha(text) else None

    async def refs(self, prefix: str) -> dict[str, str]:
        out = await self._run(
            "list references", ["for-each-ref", "--format=%(objectname) %(refname)", prefix]
        )
        pairs = (line.split(" ", 1) for line in out.decode("utf-8", "replace").splitlines())
        return {name: sha for sha, name in pairs}

    async def set_ref(self, name: str, new: str, *, old: str | None) -> None:
        """Compare and swap; `old` None means that it must not exist. Repeating is harmless.

        Conflict `ref_moved` when it is at something else.
        """
        try:
            await self._run("move a reference", ["update-ref", name, new, old or ABSENT])
        except Failed:
            at = await self.ref(name)
            if at == new:
                return
            if at == old:
                raise
            raise Conflict(
                "ref_moved",
                f"{name} is at {at}, not at {old}",
                hint="Another attempt moved it: read it again and decide anew.",
            ) from None

    async def keep(self, name: str, sha: str) -> None:
        """Point a reference of an order's namespace at a commit, wherever it was before."""
        await self._run("keep a commit", ["update-ref", name, check_sha(sha)])

    async def delete_refs(self, prefix: str) -> int:
        """Forget everything below a prefix of the namespace. Objects stay."""
        names = await self.refs(prefix)
        lines = "".join(f"delete {name}\n" for name in names)
        if lines:
            await self._run("delete references", ["update-ref", "--stdin"], stdin=lines.encode())
        return len(names)

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
                "--no-renames",
                "--no-ext-diff",
                "--no-textconv",
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
            ["diff-tree", "-r", "-z", "--numstat", "--no-renames", *_trees(base, head)],
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
            ["diff-tree", "-r", "-p", *form, "--no-ext-diff", "--no-textconv", *_trees(base, head)],
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
                "--no-ext-diff",
                "--no-textconv",
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

    async def show(self, sha: str, path: str, *, limit_bytes: int = 1_048_576) -> bytes | None:
        """A file as committed, or None when there is none (or it is a folder or submodule)."""
        entry = await self.entry(sha, path)
        if entry is None or entry[0] not in ("100644", "100755"):
            return None
        size = int(await self._run("measure a file", ["cat-file", "-s", entry[1]]))
        if size > limit_bytes:
            raise TooLarge(
                "file_too_large",
                f"{path} has {size} bytes; at most {limit_bytes} are read",
                hint="Make the file smaller.",
                field="path",
            )
        return await self._run("read a file", ["cat-file", "blob", entry[1]])

    async def head_of(self, object_id: str, limit_bytes: int) -> bytes:
        """The beginning of a file's content, by its object id."""
        answer = await self.git.run(
            "read a file",
            ["cat-file", "blob", check_sha(object_id)],
            repository=self.path,
            limit_bytes=limit_bytes,
            cut=True,
        )
        return answer.stdout

    async def entry(self, sha: str, path: str) -> tuple[str, str] | None:
        """Mode and object id of a path."""
        found = await self.list_tree(sha, path)
        return found.get(path)

    async def list_tree(self, sha: str, *paths: str) -> dict[str, tuple[str, str]]:
        """What stands at these paths (end one with `/` to list a folder): path -> (mode, id)."""
        out = await self._run(
            "list a folder",
            ["ls-tree", "-z", "--full-tree", check_sha(sha), "--", *paths],
        )
        entries = {}
        for record in out.split(b"\0"):
            head, _, name = record.partition(b"\t")
            if name:
                mode, _, object_id = head.decode().split(" ")
                entries[name.decode("utf-8", "replace")] = (mode, object_id)
        return entries

    async def tree_of(self, sha: str) -> str:
        out = await self._run(
            "read a commit", ["rev-parse", "--verify", f"{check_sha(sha)}^{{tree}}"]
        )
        return out.decode().strip()

    async def import_pack(self, pack: IO[bytes]) -> None:
        """Take objects as data: every object is checked (fsck) and every link must resolve."""
        await self.git.run(
            "import what the agent made",
            [
                "index-pack",
                "--stdin",
                "--fix-thin",
                "--strict",
                f"--max-input-size={MAX_IMPORT_BYTES}",
            ],
            repository=self.path,
            stdin=pack,
            timeout_s=600.0,
        )

    async def commit_tree(
        self, tree: str, parents: Sequence[str], message: str, *, author: str, at_ms: int
    ) -> str:
        """A commit made by the host. The same arguments give the same id, whenever it runs."""
        name, email = split_author(author)
        date = f"@{at_ms // 1000} +0000"
        arguments = ["commit-tree", check_sha(tree)]
        for parent in parents:
            arguments += ["-p", check_sha(parent)]
        out = await self._run(
            "make a commit",
            arguments,
            stdin=message.replace("\0", "").encode("utf-8", "replace"),
            env={
                "GIT_AUTHOR_NAME": name,
                "GIT_AUTHOR_EMAIL": email,
                "GIT_AUTHOR_DATE": date,
                "GIT_COMMITTER_NAME": name,
                "GIT_COMMITTER_EMAIL": email,
                "GIT_COMMITTER_DATE": date,
            },
        )
        return out.decode().strip()

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


def split_author(author: str) -> tuple[str, str]:
    """`Name <mail>` without the characters that git gives a meaning."""
    name, _, rest = author.partition("<")
    email = rest.partition(">")[0]
    keep = str.maketrans("", "", "<>\n\r\0")
    return name.translate(keep).strip() or "agent", email.translate(keep).strip()


def _trees(base: str, head: str) -> list[str]:
    return ["--end-of-options", check_sha(base), check_sha(head)]


def _some(branches: Mapping[str, str]) -> str:
    names = sorted(branches)
    return ", ".join(names[:5]) + (" and others" if len(names) > 5 else "")
