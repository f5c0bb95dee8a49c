"""Nodes, their properties, and lists of them with cursors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from github_simulator.call import Call
from github_simulator.rules import refusals
from github_simulator.things.accounts import Account
from github_simulator.things.repository import Repository
from github_simulator.things.review import PullRequest, ReviewComment


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """A thing of the graph: its type, and what it is in the world."""

    type: str
    repository: Repository | None = None
    pull: PullRequest | None = None
    comment: ReviewComment | None = None
    account: Account | None = None
    # Of connections, edges and payloads: what was already found out.
    made: Any = None


Resolve = Callable[[Call, Node, dict[str, Any]], Any]


class Argument(msgspec.Struct, frozen=True, kw_only=True):
    type: str
    required: bool = False


class Property(msgspec.Struct, frozen=True, kw_only=True):
    """`type` is a scalar's name, or a type of TYPES; its members if it is a list."""

    type: str
    resolve: Resolve
    arguments: dict[str, Argument] = {}


SCALARS = ("ID", "String", "Int", "Boolean", "DateTime", "URI", "BigInt", "GitObjectID", "Enum")
PAGE = {
    "first": Argument(type="Int"),
    "last": Argument(type="Int"),
    "after": Argument(type="String"),
    "before": Argument(type="String"),
}


def scalar(type_: str, take: Callable[[Call, Node], Any]) -> Property:
    return Property(type=type_, resolve=lambda call, node, _: take(call, node))


def connection(kind: str, name: str, nodes: list[Node], arguments: dict[str, Any]) -> Node:
    first, last = arguments.get("first"), arguments.get("last")
    refusals.GRAPHQL_PAGES.when(
        first is None and last is None,
        f"You must provide a `first` or `last` value to properly paginate the `{name}` connection.",
    )
    limit = first if first is not None else last or 0
    refusals.GRAPHQL_EXCESS.when(
        not 0 <= limit <= 100,
        f"Requesting {limit} records on the `{name}` connection exceeds the "
        f"`{'first' if first is not None else 'last'}` limit of 100 records.",
    )
    start = _cursor(arguments.get("after")) if arguments.get("after") else 0
    end = _cursor(arguments.get("before")) - 1 if arguments.get("before") else len(nodes)
    if first is not None:
        end = min(end, start + first)
    else:
        start = max(start, end - (last or 0))
    made = {"all": nodes, "start": start, "shown": nodes[start:end], "end": end}
    return Node(type=f"{kind}Connection", made=made)


def _cursor(text: str | None) -> int:
    digits = (text or "").removeprefix("Y3Vyc29yOg")
    return int(digits) if digits.isdigit() else 0


def _at(number: int) -> str:
    return f"Y3Vyc29yOg{number}"


def _page_info(call: Call, node: Node, arguments: dict[str, Any]) -> Node:
    made = node.made
    return Node(
        type="PageInfo",
        made={
            "hasNextPage": made["end"] < len(made["all"]),
            "hasPreviousPage": made["start"] > 0,
            "startCursor": _at(made["start"] + 1) if made["shown"] else None,
            "endCursor": _at(made["end"]) if made["shown"] else None,
        },
    )


def _edges(call: Call, node: Node, arguments: dict[str, Any]) -> list[Node]:
    start, kind = node.made["start"], node.type.removesuffix("Connection")
    return [
        Node(type=f"{kind}Edge", made={"node": each, "cursor": _at(start + at + 1)})
        for at, each in enumerate(node.made["shown"])
    ]


def connection_type(kind: str) -> dict[str, dict[str, Property]]:
    return {
        f"{kind}Connection": {
            "nodes": scalar(kind, lambda call, node: node.made["shown"]),
            "edges": Property(type=f"{kind}Edge", resolve=_edges),
            "pageInfo": Property(type="PageInfo", resolve=_page_info),
            "totalCount": scalar("Int", lambda call, node: len(node.made["all"])),
        },
        f"{kind}Edge": {
            "node": scalar(kind, lambda call, node: node.made["node"]),
            "cursor": scalar("String", lambda call, node: node.made["cursor"]),
        },
    }
