"""Issues and what is said about them: comments, reactions, labels; files and permissions."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import Literal, get_args
from urllib.parse import quote

from agent_work_orders.errors import NotFound, Permanent, Transient
from agent_work_orders.github_integration.forge import (
    Comment,
    Issue,
    Permission,
    Reaction,
    Repository,
    RepositoryFacts,
)
from agent_work_orders.github_integration.resources import markers, wire
from agent_work_orders.github_integration.resources.resource import Resource, segment

# Above it the service sends no content.
FILE_LIMIT_BYTES = 1_048_576


class Conversation(Resource):
    async def repository(self, repository: Repository) -> RepositoryFacts:
        return wire.read(await self._get(repository, ""), wire.Facts).as_repository_facts()

    async def issue(self, repository: Repository, number: int) -> Issue:
        return wire.read(await self._get(repository, f"issues/{number}"), wire.Issue).as_issue()

    async def file(self, repository: Repository, path: str, ref: str | None = None) -> bytes | None:
        where = f"contents/{quote(path)}"
        try:
            answer = await (
                self._get(repository, where, ref=ref) if ref else self._get(repository, where)
            )
        except NotFound:
            return None
        if isinstance(answer, list):
            return None
        found = wire.read(answer, wire.Content)
        if found.type != "file":
            return None
        if found.size > FILE_LIMIT_BYTES or found.encoding != "base64":
            raise Permanent(
                "github_file_too_large",
                f"{path} has {found.size} bytes; {FILE_LIMIT_BYTES} can be read",
                hint="Make the file smaller.",
            )
        try:
            return base64.b64decode(found.content)
        except binascii.Error as error:
            raise Transient(
                "github_unreachable",
                f"GitHub sent {path} in a form that cannot be read",
                hint="It is asked again.",
            ) from error

    async def permission(self, repository: Repository, login: str) -> Permission:
        try:
            answer = await self._get(repository, f"collaborators/{segment(login)}/permission")
        except NotFound:
            return "none"
        found = wire.read(answer, wire.Role)
        # A role that an organisation made itself has a name of its own over one of the known.
        for one in get_args(Permission):
            if found.role_name == one:
                return _permission(one)
        return _permission(found.permission)

    async def find_comment(self, repository: Repository, number: int, key: str) -> Comment | None:
        async def look() -> Comment | None:
            for one in await self._pages(repository, f"issues/{number}/comments", wire.Comment):
                if markers.carries(one.body, key) and await self._ours(one.user):
                    return one.as_comment()
            return None

        return await self._look(look)

    async def add_comment(
        self, repository: Repository, number: int, body: str, key: str
    ) -> Comment:
        path, said = f"issues/{number}/comments", {"body": self._seal(body, key)}
        made = await self._send("POST", repository, path, said, creates=True)
        return wire.written(made, wire.Comment).as_comment()

    async def edit_comment(
        self, repository: Repository, comment_id: int, body: str, key: str
    ) -> Comment:
        path, said = f"issues/comments/{comment_id}", {"body": self._seal(body, key)}
        return wire.written(
            await self._send("PATCH", repository, path, said), wire.Comment
        ).as_comment()

    async def react(
        self,
        repository: Repository,
        number: int,
        reaction: Reaction,
        comment_id: int | None = None,
        *,
        on_a_line: bool = False,
    ) -> None:
        kind = "pulls" if on_a_line else "issues"
        about = f"issues/{number}" if comment_id is None else f"{kind}/comments/{comment_id}"
        said = {"content": reaction}
        await self._send("POST", repository, f"{about}/reactions", said, creates=True)

    async def set_labels(
        self, repository: Repository, number: int, *, add: Sequence[str], remove: Sequence[str]
    ) -> None:
        path = f"issues/{number}/labels"
        if add:
            await self._send("POST", repository, path, {"labels": list(add)}, creates=True)
        for name in remove:
            try:
                await self._send("DELETE", repository, f"{path}/{segment(name)}")
            except NotFound:
                continue

    async def update_issue(
        self, repository: Repository, number: int, *, state: Literal["open", "closed"]
    ) -> None:
        await self._send("PATCH", repository, f"issues/{number}", {"state": state})


def _permission(name: str) -> Permission:
    found: dict[str, Permission] = {one: one for one in get_args(Permission)}
    # An unknown word never gives a right.
    return found.get(name, "none")
