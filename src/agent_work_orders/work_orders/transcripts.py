"""Transcripts on disk: one JSONL file per task, appended as the agent speaks."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from agent_work_orders.agent_executor import transcript
from agent_work_orders.agent_executor.agent import Entry, is_bookkeeping
from agent_work_orders.errors import NotFound
from agent_work_orders.ids import ORDER_ID

_PATH = re.compile(r"[A-Za-z0-9_.~/\[\]-]{1,1000}")
# A file's name has at most 255 bytes.
_NAME_CHARS = 200
# What a resumed agent can read of it; its oldest part matters least.
NEWEST_LIMIT_BYTES = 2 * 1024 * 1024
# A search reads at most so much: a few seconds on a slow disk.
SEARCH_LIMIT_BYTES = 256 * 1024 * 1024
_AROUND_CHARS = 100


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """An entry that contains what was looked for."""

    task: str
    cursor: int
    """Behind it, as when reading."""
    after: int
    """Before it: reading after this begins with it."""
    kind: str
    excerpt: str


class Found(msgspec.Struct, frozen=True, kw_only=True):
    matches: tuple[Match, ...]
    has_more: bool


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
        return [_task(file) for file in self._files(order_id)]

    def _files(self, order_id: str) -> list[Path]:
        """Oldest use first."""
        folder = self._folder / self._order(order_id, "it")
        if not folder.is_dir():
            return []
        return sorted(folder.glob("*.jsonl"), key=lambda file: file.stat().st_mtime_ns)

    def newest(self, order_id: str, path: str) -> list[Entry]:
        """The last entries of a task, oldest first; none if it has no transcript."""
        file = self._file(order_id, path)
        try:
            with file.open("rb") as open_file:
                size = open_file.seek(0, os.SEEK_END)
                open_file.seek(max(0, size - NEWEST_LIMIT_BYTES))
                content = open_file.read(NEWEST_LIMIT_BYTES)
        except OSError:
            return []
        if size > NEWEST_LIMIT_BYTES:
            content = content.partition(b"\n")[2]
        return list(transcript.decode(content).entries)

    def search(
        self, order_id: str, text: str, *, task: str | None = None, limit: int = 100
    ) -> Found:
        """Entries that contain a text in either case, oldest task first."""
        wanted = re.compile(re.escape(text), re.IGNORECASE)
        if task is None:
            files = self._files(order_id)
        else:
            files = [self._file(order_id, task)]
            if not files[0].exists():
                raise _missing(order_id, task)
        matches: list[Match] = []
        room = SEARCH_LIMIT_BYTES
        for file in files:
            name = task if task is not None else _task(file)
            with file.open("rb") as open_file:
                at = 0
                for line in open_file:
                    before, at = at, at + len(line)
                    room -= len(line)
                    if room < 0 or len(matches) > limit:
                        return Found(matches=tuple(matches[:limit]), has_more=True)
                    matches += _matches(line, wanted, name, before, at)
        return Found(matches=tuple(matches[:limit]), has_more=len(matches) > limit)

    def read(
        self, order_id: str, path: str, *, after: int = 0, limit: int = 500
    ) -> list[tuple[int, Entry]]:
        """A page of entries for people, each with the cursor that comes after it."""
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
                found.extend((at, one) for one in reading.entries if not is_bookkeeping(one))
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


def _task(file: Path) -> str:
    return file.stem.replace(":", "/")


def _matches(
    line: bytes, wanted: re.Pattern[str], task: str, before: int, at: int
) -> Iterator[Match]:
    for entry in transcript.decode(line).entries:
        if is_bookkeeping(entry):
            continue
        whole = entry.text
        if "input" in entry.data:
            whole += f" {msgspec.json.encode(entry.data['input']).decode()}"
        found = wanted.search(whole)
        if found is not None:
            start = max(0, found.start() - _AROUND_CHARS)
            end = found.end() + _AROUND_CHARS
            excerpt = ("…" if start else "") + whole[start:end] + ("…" if end < len(whole) else "")
            yield Match(task=task, cursor=at, after=before, kind=entry.kind, excerpt=excerpt)


def _missing(order_id: str, path: str) -> NotFound:
    return NotFound(
        "transcript_missing",
        f"{path[:80]} of {order_id[:40]} has no transcript",
        hint="Only tasks of agents have one, once they have begun.",
    )
