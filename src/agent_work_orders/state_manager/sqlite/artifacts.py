"""The list of artifacts in SQLite; their bytes are elsewhere (files/artifacts.py)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from agent_work_orders.state_manager.artifacts import Artifact
from agent_work_orders.state_manager.sqlite.named import queries
from agent_work_orders.state_manager.sqlite.proof import one_row, sealed
from agent_work_orders.state_manager.sqlite.readers import Readers
from agent_work_orders.state_manager.sqlite.text import storable
from agent_work_orders.state_manager.sqlite.writer import Writer

_SQL = queries("store")
_FIELDS = Artifact.__struct_fields__


class SqliteArtifactList:
    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers

    def add(self, artifact: Artifact) -> None:
        """Durable when it returns. Blocking."""
        row = sealed("artifacts", [getattr(artifact, name) for name in _FIELDS])
        self._writer.run(lambda connection: connection.execute(_SQL["put_artifact"], row))

    def of_order(self, order_id: str) -> Iterator[Artifact]:
        for row in self._readers.rows(_SQL["artifacts_of_order"], (storable(order_id),)):
            yield one_row(_artifact, row, "artifacts")

    def contents(self) -> Iterator[str]:
        for row in self._readers.rows(_SQL["artifact_contents"]):
            yield str(row[0])


def _artifact(row: Sequence[Any]) -> Artifact:
    return Artifact(**dict(zip(_FIELDS, row, strict=True)))
