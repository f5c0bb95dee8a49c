"""What separates agents from each other and from this machine, per case, in words for people. Pure.

The cases: the server is root (each order gets a user of its own, or all share one) or not (agents
are the server's own user); the kernel gives namespaces or does not; in them, paths can be made
unwritable, and `/tmp` private, or cannot; the kernel has scopes for signals and sockets or not.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from agent_work_orders.sandbox_manager.sandbox import Isolation
from agent_work_orders.sandbox_manager.sandbox_types import SandboxType


class Case(msgspec.Struct, frozen=True, kw_only=True):
    root: bool
    """Whether the server is root."""
    users: str
    """Whom agents run as: `uid 7`, `uids 7 to 9`."""
    shared: bool
    """Whether all orders are one user."""
    namespaces: bool
    guards: bool
    """Whether a local repository, and the home of the server's user, are read-only for agents."""
    private: bool
    """Whether /tmp, /var/tmp and /dev/shm are an order's own."""
    scoped: bool
    """Whether signals and abstract sockets stay in an execution."""


class Protection(msgspec.Struct, frozen=True, kw_only=True):
    status: Literal["ok", "warning"]
    detail: str
    hint: str = ""


def describe(case: Case) -> Protection:
    walls = " ".join((_who(case), *separations(case).values()))
    if case.root and case.namespaces and not case.shared:
        return Protection(status="ok", detail=walls)
    if case.root and case.namespaces:
        return Protection(
            status="warning",
            detail=f"PARTLY PROTECTED. {walls}",
            hint="Set AWO_AGENT_UID to a range (first-last), or to nothing, which chooses one.",
        )
    if case.root:
        return Protection(
            status="warning",
            detail=f"PARTLY PROTECTED. {walls}",
            hint="Let the server make mount and pid namespaces (CAP_SYS_ADMIN).",
        )
    if case.namespaces:
        return Protection(
            status="warning",
            detail=f"PARTLY PROTECTED. {walls}",
            hint="Run the server as root, which gives each order a user of its own"
            + (", or as a user that owns nothing else." if case.guards else "."),
        )
    return Protection(
        status="warning",
        detail=f"UNPROTECTED: this machine gives no user namespaces. {walls}",
        hint="Allow unprivileged user namespaces, or run the server as root, which gives each "
        "order a user of its own; until then run only agents that you trust with all of that.",
    )


def separations(case: Case) -> dict[str, str]:
    """What is between an agent and other orders, the data directory, other data directories, this
    machine, and channels that all programs share. Each a sentence."""
    return {
        "orders": _from_orders(case),
        "data directory": _from_data(case),
        "other data directories": _from_other_data(case),
        "machine": _from_machine(case),
        "channels": _channels(case),
    }


def _who(case: Case) -> str:
    if not case.root:
        return f"Agents run as the server's own user ({case.users})."
    if case.shared:
        return f"Agents of all orders run as one user ({case.users})."
    return f"Each order runs as a user of its own, one of {case.users}."


def _from_orders(case: Case) -> str:
    if case.namespaces:
        whose = "" if case.shared else ", and belong to other users"
        return f"Other orders: hidden with files and processes{whose}."
    if case.shared:
        return "Other orders: not separated; an agent can change their files and processes."
    return "Other orders: their files are closed to it; that their processes run can be seen."


def _from_data(case: Case) -> str:
    if case.namespaces:
        return (
            "The data directory and the server's processes: hidden, but for the stored repository "
            "that git_worktree borrows from, which is read-only."
        )
    if case.root:
        return (
            "The data directory: file permissions keep agents from writing it; stored repositories "
            "can be read."
        )
    return "The data directory: open to them, with its keys and stored repositories."


def _from_other_data(case: Case) -> str:
    if case.root and not case.shared:
        return "Other data directories here: closed; no user is given to two orders of them."
    whose = "which use the same user" if case.root else "of this user"
    return f"Other data directories here {whose}: not separated."


def _from_machine(case: Case) -> str:
    if case.root:
        origin = (
            "a local repository is read-only for them"
            if case.guards
            else "file permissions keep them from a local repository"
        )
        return f"This machine: {origin}; they can read what every user can read."
    if case.guards:
        return (
            "This machine, in part. Read-only: a local repository that an order works on, with its "
            ".git, and this user's home. Not separated: they can read whatever this user can read, "
            "keys in its home included, and write its files elsewhere."
        )
    return (
        "This machine: not separated; they can overwrite a local repository, plant hooks in its "
        ".git, and change any other file of this user, ~/.bashrc included."
    )


def _channels(case: Case) -> str:
    folders, words = "/tmp, /var/tmp, /dev/shm and System V IPC", "abstract sockets and signals"
    closed = (case.private, case.scoped)
    own = [what for what, is_closed in zip((folders, words), closed, strict=True) if is_closed]
    shared = [what for what in (folders, words) if what not in own]
    first = f"Of its own it has {' and '.join(own)}. " if own else ""
    return f"{first}Shared with everything here: {', '.join((*shared, 'the network'))}."


def isolation(case: Case, sandbox_type: SandboxType) -> Isolation:
    found = separations(case)
    borrowed = "borrows objects read-only" if sandbox_type == "git_worktree" else "full copy"
    return Isolation(
        files=" ".join(
            (
                f"Own work tree and .git ({borrowed}).",
                found["orders"],
                found["data directory"],
                found["other data directories"],
                found["machine"],
            )
        ),
        processes=(
            "own pid namespace; everything ends with the call"
            if case.namespaces
            else "subreaper; everything ends with the call unless it hides its parentage"
        ),
        network=f"not isolated. {found['channels']}",
        credentials=f"environment built from nothing. {_who(case)}",
        summary="Keeps orders apart; for agents you trust with this machine and its network.",
    )
