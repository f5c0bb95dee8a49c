"""Transcripts on disk: one JSONL file per task, appended as the agent speaks."""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress
from pathlib import Path

from agent_work_orders.agent_executor import transcript
from agent_work_orders.agent_executor.agent import Entry
from agent_work_orders.errors import NotFound
from agent_work_orders.ids import ORDER_ID

_PATH = re.compile(r"[A-Za-z0-9_.~/\[\]-]{1,1000}")
# A file's name has at most 255 bytes.
_NAME_CHARS = 200


class Transcripts:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def append(self, order_id: str, path: str, line: bytes) -> None:
        """What cannot be written (a full disk) is left out: the agent goes on, its work counts."""
        file = self._file(order_id, path)
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            file.parent.mkdir(exist_ok=True, mode=0o700)
            with file.open("ab") as open_file:
                open_file.write(line)

    def tasks(self, order_id: str) -> list[str]:
        """The tasks that have one."""
        folder = self._folder / self._order(order_id, "it")
        if not folder.is_dir():
            return []
        files = sorted(folder.glob("*.jsonl"), key=lambda file: file.stat().st_mtime_ns)
        return [file.stem.replace(":", "/") for file in files]

    def read(
        self, order_id: str, path: str, *, after: int = 0, limit: int = 500
    ) -> list[tuple[int, Entry]]:
        """A page of entries, each with the cursor that comes after it."""
        file = self._file(order_id, path)
        if not file.exists():
            raise _missing(order_id, path)
        found: list[tuple[int, Entry]] = []
        with file.open("rb") as open_file:
            open_file.seek(max(0, after))
            at = max(0, after)
            for line in open_file:
                if not line.endswith(b"\n"):
                    break
                at += len(line)
                reading = transcript.decode(line)
                found.extend((at, entry) for entry in reading.entries)
                if len(found) >= limit:
                    break
        return found

    def _file(self, order_id: str, path: str) -> Path:
        if not _PATH.fullmatch(path) or ".." in path:
            raise _missing(order_id, path)
        name = path.replace("/", ":")  # a task of a child workflow: `check/plan`
        if len(name) > _NAME_CHARS:
            digest = hashlib.sha256(name.encode()).hexdigest()[:16]
            name = f"{name[:_NAME_CHARS]}:{digest}"
        return self._folder / self._order(order_id, path) / f"{name}.jsonl"

    def _order(self, order_id: str, path: str) -> str:
        if not ORDER_ID.fullmatch(order_id):
            raise _missing(order_id, path)
        return order_id


def _missing(order_id: str, path: str) -> NotFound:
    return NotFound(
        "transcript_missing",
        f"{path[:80]} of {order_id[:40]} has no transcript",
        hint="Only tasks of agents have one, once they have begun.",
    )
