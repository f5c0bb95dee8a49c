"""What is known about every sandbox, durable: one JSON file each, replaced atomically."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from agent_work_orders.ids import ORDER_ID
from agent_work_orders.repositories.refname import check_label, check_order
from agent_work_orders.sandbox_manager.sandbox import Record, Spec


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """`head_sha` is the commit that the workspace was last checked out at or committed to;
    `holder` names whose unfinished work its files are."""

    record: Record
    spec: Spec
    head_sha: str | None = None
    holder: str = ""


class Register:
    """Entries by the sandbox's name. Small and rarely written, so it blocks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)

    def get(self, name: str) -> Entry | None:
        try:
            data = self._path(name).read_bytes()
        except FileNotFoundError:
            return None
        try:
            return msgspec.json.decode(data, type=Entry)
        except msgspec.DecodeError:
            return None

    def put(self, entry: Entry) -> None:
        path = self._path(entry.spec.name)
        making = path.with_suffix(".making")
        # No fsync: after a power loss the workspace is no better known than its record, and an
        # unreadable record means that both are made anew.
        making.write_bytes(msgspec.json.encode(entry))
        os.replace(making, path)

    def all(self) -> list[Entry]:
        names = sorted(path.stem for path in self.folder.glob("wo-*.json"))
        found = (self.get(name) for name in names if ORDER_ID.fullmatch(order_in(name)))
        return [entry for entry in found if entry is not None]

    def index_path(self, name: str) -> Path:
        """Where the stat cache of the last checkout is kept, out of the agent's reach."""
        return self.folder / f"{check_name(name)}.index"

    def _path(self, name: str) -> Path:
        return self.folder / f"{check_name(name)}.json"


def order_in(name: str) -> str:
    """Whose sandbox it is, by its name."""
    return name.partition(".")[0]


def check_name(name: str) -> str:
    """Refused unless it is that of a sandbox: an order, or a part of one."""
    order_id, _, part = name.partition(".")
    check_order(order_id)
    if part:
        check_label(part)
    return name
