"""Files and folders at a commit."""

from __future__ import annotations

import base64
from typing import Any
from urllib.parse import quote

from github_simulator.asking import access
from github_simulator.call import Answer, Call, Route
from github_simulator.rules import refusals
from github_simulator.shapes import repo
from github_simulator.things.git_store import Entry
from github_simulator.things.repository import Repository

_TYPES = {"blob": "file", "tree": "dir", "commit": "submodule"}
# Larger files have no content here (repos/get-content: 1 to 100 MB only as raw).
INLINE_LIMIT_BYTES = 1024 * 1024


def get(call: Call) -> Answer:
    repository = access.repository(call)
    git = call.world.git(repository)
    ref = call.query.get("ref") or repository.default_branch
    path = call.params.get("path", "").strip("/")
    sha = refusals.REF_UNKNOWN.found(git.resolve(ref), f"No commit found for the ref {ref}")
    if not path:
        return Answer(body=_folder(call, repository, sha, path, ref))
    entry = refusals.FILE_MISSING.found(git.entry(sha, path))
    if entry.kind == "tree":
        return Answer(body=_folder(call, repository, sha, path, ref))
    data = git.blob(entry.sha) if entry.kind == "blob" else b""
    if "raw" in call.headers.get("accept", ""):
        text = data.decode("utf-8", "replace")
        return Answer(
            body=text, headers={"content-type": "application/vnd.github.raw; charset=utf-8"}
        )
    shape = _entry(call, repository, entry, ref, len(data))
    inline = len(data) <= INLINE_LIMIT_BYTES
    shape["content"] = base64.encodebytes(data).decode() if inline else ""
    shape["encoding"] = "base64" if inline else "none"
    return Answer(body=shape)


def _folder(
    call: Call, repository: Repository, sha: str, path: str, ref: str
) -> list[dict[str, Any]]:
    git = call.world.git(repository)
    return [
        _entry(call, repository, each, ref, len(git.blob(each.sha)) if each.kind == "blob" else 0)
        for each in git.entries(sha, path)
    ]


def _entry(call: Call, repository: Repository, entry: Entry, ref: str, size: int) -> dict[str, Any]:
    own = repo.api_url(call.world, repository)
    url = f"{own}/contents/{quote(entry.path)}?ref={quote(ref)}"
    kind = "tree" if entry.kind == "tree" else "blob"
    page = f"{repo.web_url(call.world, repository)}/{kind}/{ref}/{quote(entry.path)}"
    git_url = f"{own}/git/{kind}s/{entry.sha}"
    raw = f"{repo.web_url(call.world, repository)}/raw/{ref}/{quote(entry.path)}"
    return {
        "name": entry.path.rpartition("/")[2],
        "path": entry.path,
        "sha": entry.sha,
        "size": size,
        "url": url,
        "html_url": page,
        "git_url": git_url,
        "download_url": raw if entry.kind == "blob" else None,
        "type": "symlink" if entry.mode == "120000" else _TYPES[entry.kind],
        "_links": {"self": url, "git": git_url, "html": page},
    }


ROUTES = tuple(
    Route(
        method="GET",
        template="/repos/{owner}/{repo}/contents" + tail,
        operation="repos/get-content",
        needs=(("contents", "read"),),
        handler=get,
    )
    for tail in ("", "/{path}")
)
