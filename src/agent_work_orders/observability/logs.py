"""Structured logs: JSON for machines, colours for a terminal, one JSONL file per order.

Every line passes the redactor. A line is one line: control characters in values are escaped by
JSON, and the console shows them escaped too.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import sys
import threading
from collections.abc import Callable, Mapping, MutableMapping
from pathlib import Path
from typing import IO, Any, TextIO

import msgspec

from agent_work_orders.clock import Clock, iso
from agent_work_orders.observability.structured import structlog

Redact = Callable[[Any], Any]
MAX_WAITING = 100_000
LEVELS = ("debug", "info", "warning", "error")


def configure(*, level: str, pretty: bool, redact: Redact, stream: TextIO | None = None) -> None:
    """Once per process. `redact` sees every event as a dict."""

    def clean(
        _logger: Any, _method: str, event: MutableMapping[str, Any]
    ) -> MutableMapping[str, Any]:
        cleaned: MutableMapping[str, Any] = redact(dict(event))
        return cleaned

    renderer: Any = (
        structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
        if pretty
        else structlog.processors.JSONRenderer()
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.StackInfoRenderer(),
            structlog.processors.format_exc_info,
            clean,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(
            logging.getLevelNamesMapping()[level.upper()]
        ),
        logger_factory=structlog.PrintLoggerFactory(stream or sys.stderr),
        cache_logger_on_first_use=False,
    )


class OrderFiles:
    """`logs/agent_work_orders/{date}/{id}.jsonl`, one JSON object a line.

    A thread of its own writes, so that nobody waits for opening files. What a crash loses here
    is in the log table.
    """

    def __init__(self, folder: Path, clock: Clock, *, keep_open: int = 64) -> None:
        self._folder = folder
        self._clock = clock
        self._keep_open = keep_open
        self._lines: queue.Queue[tuple[str, str, bytes] | None] = queue.Queue(MAX_WAITING)
        self._files: dict[Path, IO[bytes]] = {}
        self._thread = threading.Thread(target=self._serve, name="order-logs", daemon=True)
        self._thread.start()

    def write(self, order_id: str, level: str, event: str, fields: Mapping[str, Any]) -> None:
        stamp = iso(self._clock.now_ms())
        line = {
            "timestamp": stamp,
            "level": level,
            "event": event,
            "agent_work_order_id": order_id,
            **fields,
        }
        with contextlib.suppress(queue.Full):  # the disk does not keep up; the table has it
            encoded = msgspec.json.encode(line, enc_hook=str) + b"\n"
            self._lines.put_nowait((stamp[:10], order_id, encoded))

    def flush(self) -> None:
        """Wait until everything is in its file. Blocking."""
        self._lines.join()

    def close(self) -> None:
        """Write what waits and end the thread. May be called twice. Blocking."""
        if self._thread.is_alive():
            self._lines.put(None)
            self._thread.join()

    def _serve(self) -> None:
        while (taken := self._lines.get()) is not None:
            day, order_id, line = taken
            # Losing a line to a full disk must not end the thread, nor the work.
            with contextlib.suppress(OSError):
                self._file(self._folder / day / f"{order_id}.jsonl").write(line)
            self._lines.task_done()
        self._lines.task_done()
        for file in self._files.values():
            file.close()

    def _file(self, path: Path) -> IO[bytes]:
        found = self._files.pop(path, None)
        if found is None:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            found = path.open("ab", buffering=0)
            if len(self._files) >= self._keep_open:
                self._files.pop(next(iter(self._files))).close()
        self._files[path] = found
        return found
