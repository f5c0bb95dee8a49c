"""What is worth remembering between orders: compiled workflows, verified repositories,
their commands."""

from __future__ import annotations

import threading

import msgspec

from agent_work_orders.command_loader.catalogue import Catalogue
from agent_work_orders.repositories.history import RemoteHeads
from agent_work_orders.state_manager.versions import Origin
from agent_work_orders.workflow_engine.plan import Plan

# A burst of orders on one repository asks it once.
VERIFIED_FOR_MS = 10_000
MOST = 256


class Compiled(msgspec.Struct, frozen=True, kw_only=True):
    plan: Plan
    plan_hash: str
    source: str
    origin: Origin


class Cache:
    def __init__(self) -> None:
        self.builtin: dict[str, Compiled] = {}
        # Whoever computes in a thread takes turns with the loop; of many, the loop gets only one.
        self.compiling = threading.Lock()
        self.saved: set[str] = set()
        """Hashes of plans whose version is kept."""
        self._commands: dict[tuple[str, str], Catalogue] = {}
        self._heads: dict[str, tuple[int, RemoteHeads]] = {}

    def heads(self, repository: str, now_ms: int) -> RemoteHeads | None:
        found = self._heads.get(repository)
        return found[1] if found and 0 <= now_ms - found[0] < VERIFIED_FOR_MS else None

    def put_heads(self, repository: str, heads: RemoteHeads, now_ms: int) -> None:
        if len(self._heads) >= MOST:
            self._heads.clear()
        self._heads[repository] = (now_ms, heads)

    def commands(self, repository: str, sha: str) -> Catalogue | None:
        return self._commands.get((repository, sha))

    def put_commands(self, repository: str, sha: str, catalogue: Catalogue) -> None:
        if len(self._commands) >= MOST:
            self._commands.clear()
        self._commands[repository, sha] = catalogue
