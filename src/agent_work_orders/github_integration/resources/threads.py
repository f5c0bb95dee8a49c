"""Review threads as GraphQL answers them."""

from __future__ import annotations

import msgspec

from agent_work_orders.github_integration import forge


class Author(msgspec.Struct, frozen=True):
    login: str = ""


class ThreadComment(msgspec.Struct, frozen=True):
    author: Author | None = None


class Comments(msgspec.Struct, frozen=True):
    nodes: list[ThreadComment] = []


class Node(msgspec.Struct, frozen=True, rename="camel"):
    id: str
    is_resolved: bool
    path: str = ""
    line: int | None = None
    comments: Comments = Comments()

    def as_thread(self, login: str) -> forge.Thread:
        """`login` is our account without `[bot]`: GraphQL names an App so."""
        first = self.comments.nodes[0].author if self.comments.nodes else None
        name = first.login.removesuffix("[bot]").lower() if first else ""
        return forge.Thread(
            node_id=self.id,
            path=self.path,
            line=self.line,
            resolved=self.is_resolved,
            ours=bool(name) and name == login,
        )


class PageInfo(msgspec.Struct, frozen=True, rename="camel"):
    has_next_page: bool
    end_cursor: str | None = None


class Threads(msgspec.Struct, frozen=True, rename="camel"):
    nodes: list[Node]
    page_info: PageInfo


class Pull(msgspec.Struct, frozen=True, rename="camel"):
    review_threads: Threads


class Home(msgspec.Struct, frozen=True, rename="camel"):
    pull_request: Pull | None = None


class ThreadsAnswer(msgspec.Struct, frozen=True):
    repository: Home | None = None
