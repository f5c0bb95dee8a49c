"""The bare git repositories behind the simulator: real objects, real refs, real merges.

Only plumbing commands run here, with no configuration of the machine and no hooks: what people
push is data. Answers about fixed commits are remembered, since they cannot change.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

import msgspec

# A machine under load is slow; a git that takes longer hangs.
TIMEOUT_S = 60
ZERO = "0" * 40
_SHA = re.compile(r"[0-9a-f]{40}")
# What no name of a ref has (git check-ref-format): neither revisions nor paths can hide in one.
_UNSAFE = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|^/|/$")


class GitRefused(Exception):
    """A git command ended with an error."""


class Person(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    email: str
    at_ms: int = 0


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    sha: str
    tree: str
    parents: tuple[str, ...]
    author: Person
    committer: Person
    message: str


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    mode: str
    kind: str
    sha: str
    path: str


class Merge(msgspec.Struct, frozen=True, kw_only=True):
    """`tree` is None when there are conflicts."""

    tree: str | None


class GitStore:
    """One bare repository, by its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._commits: dict[str, Commit] = {}
        self._merges: dict[tuple[str, str], Merge] = {}
        self._bases: dict[tuple[str, str], str | None] = {}

    def create(self, default_branch: str) -> None:
        self.folder.mkdir(parents=True)
        self.run("init", "--quiet", "--bare", "--template=", f"--initial-branch={default_branch}")
        # No gc behind our back, and no hooks from a template.
        self.run("config", "gc.auto", "0")
        self.run("config", "core.hooksPath", os.devnull)
        self.run("config", "uploadpack.allowAnySHA1InWant", "true")

    def run(self, *arguments: str, input: bytes | None = None, env: Mapping[str, str] = {}) -> str:
        """The command's output. GitRefused."""
        return self.raw(*arguments, input=input, env=env).decode("utf-8", "replace")

    def raw(
        self, *arguments: str, input: bytes | None = None, env: Mapping[str, str] = {}
    ) -> bytes:
        done = subprocess.run(
            ["git", "-c", "core.quotepath=false", *arguments],
            cwd=self.folder,
            input=input if input is not None else b"",
            capture_output=True,
            timeout=TIMEOUT_S,
            env={
                "PATH": os.environ.get("PATH", os.defpath),
                "HOME": os.devnull,
                "LC_ALL": "C",
                "GIT_CONFIG_GLOBAL": os.devnull,
                "GIT_CONFIG_NOSYSTEM": "1",
                "GIT_TERMINAL_PROMPT": "0",
                **env,
            },
        )
        if done.returncode != 0:
            raise GitRefused(f"git {arguments[0]}: {done.stderr.decode('utf-8', 'replace')}")
        return done.stdout

    def resolve(self, name: str) -> str | None:
        """The commit that a branch, a tag, a full ref or a (short) sha names."""
        if not name or name.startswith("-") or _UNSAFE.search(name):
            return None
        names = [f"refs/heads/{name}", f"refs/tags/{name}"]
        if name.startswith("refs/"):
            names.insert(0, name)
        if re.fullmatch(r"[0-9a-f]{7,40}", name) or name == "HEAD":
            names.append(name)
        for candidate in names:
            try:
                found = self.run("rev-parse", "--verify", "--quiet", f"{candidate}^{{commit}}")
            except GitRefused:
                continue
            return found.strip()
        return None

    def branch(self, name: str) -> str | None:
        """The tip of a branch. Read from its file: this is asked more often than all the rest."""
        ref = f"refs/heads/{name}"
        if not name or _UNSAFE.search(ref):
            return None
        try:
            text = (self.folder / ref).read_text(encoding="ascii").strip()
        except (OSError, ValueError):
            return self._packed(ref)
        return text if _SHA.fullmatch(text) else self.resolve(ref)

    def _packed(self, ref: str) -> str | None:
        try:
            lines = (self.folder / "packed-refs").read_text(encoding="utf-8").splitlines()
        except OSError:
            return None
        return next((line[:40] for line in lines if line[41:] == ref), None)

    def has_commit(self, sha: str) -> bool:
        if not _SHA.fullmatch(sha):
            return False
        try:
            self.raw("cat-file", "-e", f"{sha}^{{commit}}")
        except GitRefused:
            return False
        return True

    def refs(self, prefix: str) -> dict[str, str]:
        """Full names and the objects they point at, sorted."""
        lines = self.run("for-each-ref", "--format=%(objectname) %(refname)").splitlines()
        pairs = (line.split(" ", 1) for line in lines)
        return {name: sha for sha, name in pairs if name.startswith(prefix)}

    def kind(self, sha: str) -> str:
        return self.run("cat-file", "-t", sha).strip()

    def update(self, ref: str, sha: str, before: str | None = None) -> None:
        self.run("update-ref", ref, sha, *([before] if before is not None else []))

    def delete(self, ref: str) -> None:
        self.run("update-ref", "-d", ref)

    def valid_ref(self, ref: str) -> bool:
        try:
            self.run("check-ref-format", ref)
        except GitRefused:
            return False
        return True

    def commit(self, sha: str) -> Commit:
        if sha not in self._commits:
            self._commits[sha] = _parse_commit(
                sha, self.raw("cat-file", "commit", sha).decode("utf-8", "replace")
            )
        return self._commits[sha]

    def log(self, *revisions: str, path: str = "", limit: int = 1000) -> list[str]:
        """Shas, newest first."""
        paths = ["--", path] if path else ["--"]
        return self.run("rev-list", f"--max-count={limit}", *revisions, *paths).split()

    def merge_base(self, one: str, other: str) -> str | None:
        if (one, other) not in self._bases:
            try:
                self._bases[one, other] = self.run("merge-base", one, other).split()[0]
            except GitRefused:
                self._bases[one, other] = None
        return self._bases[one, other]

    def contains(self, tip: str, sha: str) -> bool:
        return self.merge_base(tip, sha) == sha

    def count(self, range_: str) -> int:
        return int(self.run("rev-list", "--count", range_, "--"))

    def merge(self, ours: str, theirs: str) -> Merge:
        """Whether two commits can be merged, and the tree that comes out."""
        if (ours, theirs) not in self._merges:
            try:
                out = self.run(
                    "merge-tree", "--write-tree", "--allow-unrelated-histories", ours, theirs
                )
                self._merges[ours, theirs] = Merge(tree=out.split()[0])
            except GitRefused:
                self._merges[ours, theirs] = Merge(tree=None)
        return self._merges[ours, theirs]

    def commit_tree(
        self, tree: str, parents: list[str], message: str, author: Person, committer: Person
    ) -> str:
        arguments = [part for parent in parents for part in ("-p", parent)]
        env = {
            "GIT_AUTHOR_NAME": author.name,
            "GIT_AUTHOR_EMAIL": author.email,
            "GIT_AUTHOR_DATE": f"{author.at_ms // 1000} +0000",
            "GIT_COMMITTER_NAME": committer.name,
            "GIT_COMMITTER_EMAIL": committer.email,
            "GIT_COMMITTER_DATE": f"{committer.at_ms // 1000} +0000",
        }
        return self.run("commit-tree", tree, *arguments, input=message.encode(), env=env).strip()

    def pick(self, sha: str, onto: str, committer: Person) -> str | None:
        """The commit made again on another parent; None on conflict."""
        picked = self.commit(sha)
        # A commit with our tree on their parent makes that parent the base of the merge.
        base = picked.parents[0]
        ours = self.commit_tree(self.commit(onto).tree, [base], "", committer, committer)
        tree = self.merge(ours, sha).tree
        if tree is None:
            return None
        return self.commit_tree(tree, [onto], picked.message, picked.author, committer)

    def write(
        self,
        branch: str,
        files: Mapping[str, str | bytes | None],
        message: str,
        author: Person,
        *,
        parent: str | None = None,
    ) -> str:
        """One commit on a branch (made if it is new) that changes these files; None deletes.
        Nobody is told: `World.commit` does that."""
        parent = parent or self.branch(branch)
        with tempfile.TemporaryDirectory() as scratch:
            env = {"GIT_INDEX_FILE": str(Path(scratch) / "index")}
            if parent:
                self.run("read-tree", parent, env=env)
            for path, content in files.items():
                if content is None:
                    self.run("update-index", "--force-remove", "--", path, env=env)
                    continue
                data = content.encode() if isinstance(content, str) else content
                blob = self.run("hash-object", "-w", "--stdin", input=data).strip()
                self.run("update-index", "--add", "--cacheinfo", f"100644,{blob},{path}", env=env)
            tree = self.run("write-tree", env=env).strip()
        sha = self.commit_tree(tree, [parent] if parent else [], message, author, author)
        self.update(f"refs/heads/{branch}", sha)
        return sha

    def entries(self, commit: str, path: str = "") -> list[Entry]:
        """What lies directly in a folder."""
        found = []
        for line in self.raw("ls-tree", "-z", f"{commit}:{path}").split(b"\0"):
            if line:
                head, name = line.decode("utf-8", "replace").split("\t", 1)
                mode, kind, sha = head.split()
                full = f"{path}/{name}" if path else name
                found.append(Entry(mode=mode, kind=kind, sha=sha, path=full))
        return found

    def entry(self, commit: str, path: str) -> Entry | None:
        folder, _, name = path.rpartition("/")
        try:
            entries = self.entries(commit, folder)
        except GitRefused:
            return None
        return next((entry for entry in entries if entry.path == path and name), None)

    def blob(self, sha: str) -> bytes:
        return self.raw("cat-file", "blob", sha)

    def fetch(self, source: Path, refspec: str) -> None:
        self.run("fetch", "--quiet", "--no-tags", str(source), refspec)


def _parse_commit(sha: str, text: str) -> Commit:
    head, _, message = text.partition("\n\n")
    fields: dict[str, list[str]] = {}
    for line in head.splitlines():
        if not line.startswith(" "):
            key, _, value = line.partition(" ")
            fields.setdefault(key, []).append(value)
    return Commit(
        sha=sha,
        tree=fields["tree"][0],
        parents=tuple(fields.get("parent", ())),
        author=_parse_person(fields["author"][0]),
        committer=_parse_person(fields["committer"][0]),
        message=message.rstrip("\n"),
    )


def _parse_person(line: str) -> Person:
    found = re.fullmatch(r"(.*?) ?<(.*)> (\d+) [+-]\d{4}", line)
    if found is None:
        return Person(name="", email="")
    return Person(name=found[1], email=found[2], at_ms=int(found[3]) * 1000)
