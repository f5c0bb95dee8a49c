"""What keeps agents from this machine, per case, in words for people. Pure.

The cases: the server is root (agents get a user of their own) or not (they are the server's own
user); the kernel gives namespaces or does not; in them, paths can be made unwritable or cannot.
"""

from __future__ import annotations

from typing import Literal

import msgspec

_SHARED = "They share /tmp and the network with everything here"
_HIDDEN = "Hidden from them: the data directory, other orders, the server's processes."
_BY_MODE = "file permissions keep them from a local repository"
_ALLOW = "Allow unprivileged user namespaces, or run the server as root"


class Case(msgspec.Struct, frozen=True, kw_only=True):
    root: bool
    """Whether the server is root."""
    uid: int
    """Whom agents run as."""
    namespaces: bool
    guards: bool
    """Whether a local repository, and the home of the server's user, are read-only for agents."""


class Protection(msgspec.Struct, frozen=True, kw_only=True):
    status: Literal["ok", "warning"]
    detail: str
    hint: str = ""


def describe(case: Case) -> Protection:
    if case.root and case.namespaces:
        origin = "a local repository is read-only for them" if case.guards else _BY_MODE
        return Protection(
            status="ok",
            detail=f"agents run as uid {case.uid} with processes and mounts of their own: the data "
            f"directory, other orders and the server's processes are hidden; {origin}. {_SHARED}, "
            "and can read what every user can read.",
        )
    if case.root:
        return Protection(
            status="warning",
            detail=f"PARTLY PROTECTED. Agents run as uid {case.uid}, without processes and mounts "
            "of their own: file permissions keep them from the data directory and from "
            "repositories of other users, but one agent can read and change the workspace and "
            f"processes of another order. {_SHARED}.",
            hint="Let the server make mount and pid namespaces (CAP_SYS_ADMIN).",
        )
    if case.namespaces and case.guards:
        return Protection(
            status="warning",
            detail=f"PARTLY PROTECTED. Agents run as the server's own user (uid {case.uid}). "
            f"{_HIDDEN} Read-only: a local repository that an order works on, with its .git, and "
            "this user's home. Not separated: they can read whatever this user can read, keys in "
            f"its home included, and write its files elsewhere. {_SHARED}.",
            hint="Run the server as root, which gives agents a user of their own, or as a user "
            "that owns nothing else.",
        )
    if case.namespaces:
        return Protection(
            status="warning",
            detail=f"PARTLY PROTECTED. Agents run as the server's own user (uid {case.uid}). "
            f"{_HIDDEN} Nothing else is separated: they can overwrite a local repository, plant "
            "hooks in its .git, and change any other file of this user, ~/.bashrc included. "
            f"{_SHARED}.",
            hint="Run the server as root, which gives agents a user of their own.",
        )
    return Protection(
        status="warning",
        detail=f"UNPROTECTED. Agents run as the server's own user (uid {case.uid}) and nothing is "
        "separated, because this machine gives no user namespaces: they can overwrite a local "
        "repository, plant hooks in its .git, change any other file of this user, ~/.bashrc "
        "included, and the data directory with its keys and stored repositories. "
        f"{_SHARED}.",
        hint=f"{_ALLOW}, which gives agents a user of their own; until then run only agents that "
        "you trust with all of that.",
    )
