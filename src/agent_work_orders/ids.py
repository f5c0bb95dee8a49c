"""Typed identifiers and the one source of chance."""

from __future__ import annotations

import base64
import re
import secrets
from typing import NewType

OrderId = NewType("OrderId", str)
"""`wo-` + 16 lowercase base32 characters: 80 random bits."""

RunId = NewType("RunId", str)
"""The order's id for its main run; see `child_run` for those of child workflows."""

ORDER_ID = re.compile(r"wo-[a-z2-7]{16}")
_PREFIX = re.compile(r"(?:wo-)?[a-z2-7]{1,16}")


def new_order_id() -> OrderId:
    return OrderId("wo-" + base64.b32encode(secrets.token_bytes(10)).decode().lower())


def new_secret(size_bytes: int = 32) -> str:
    """A url-safe random secret."""
    return secrets.token_urlsafe(size_bytes)


def new_id(prefix: str) -> str:
    """A random id for things that are not orders: `key-…`, `ap-…`."""
    return f"{prefix}-" + base64.b32encode(secrets.token_bytes(10)).decode().lower()


def is_order_prefix(text: str) -> bool:
    """Whether a person may mean an order by this (with or without `wo-`)."""
    return _PREFIX.fullmatch(text) is not None


def order_of(run: str) -> OrderId:
    """The order that a run belongs to."""
    return OrderId(run.split("/", 1)[0])


def child_run(run: str, path: str, generation: int) -> RunId:
    """`wo-…/check` the first time, `wo-…/check~2` when a person asked for it again."""
    return RunId(f"{run}/{path}" if generation == 1 else f"{run}/{path}~{generation}")
