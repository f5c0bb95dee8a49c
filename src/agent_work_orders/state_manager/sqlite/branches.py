"""Where orders' branches stand, in SQLite. The contract is state_manager/branches.py."""

from __future__ import annotations

from collections.abc import Sequence

from agent_work_orders.state_manager.branches import Branch
from agent_work_orders.state_manager.sqlite.named import queries
from agent_work_orders.state_manager.sqlite.proof import one_row, readable, sealed
from agent_work_orders.state_manager.sqlite.readers import Readers
from agent_work_orders.state_manager.sqlite.text import storable
from agent_work_orders.state_manager.sqlite.writer import Writer

_SQL = queries("store")


class SqliteBranches:
    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers

    async def keep(self, branch: Branch) -> None:
        values = (branch.order_id, branch.repository, branch.base_sha, branch.head_sha)
        row = sealed("branches", values)
        await self._writer.submit(lambda connection: connection.execute(_SQL["put_branch"], row))

    async def get(self, order_id: str) -> Branch | None:
        row = self._readers.row(_SQL["get_branch"], (storable(order_id),))
        return None if row is None else one_row(_branch, row, "branches")

    async def all(self) -> Sequence[Branch]:
        return readable(_branch, self._readers.rows(_SQL["all_branches"]), "branches")


def _branch(row: Sequence[str]) -> Branch:
    order_id, repository, base_sha, head_sha = row
    return Branch(order_id=order_id, repository=repository, base_sha=base_sha, head_sha=head_sha)
