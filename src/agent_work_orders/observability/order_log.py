"""One line of an order's log: clean, bounded, and sent to every place that keeps it.

A log must not break the work: a file that cannot be written (a full disk), or an output that nobody
reads any more, costs its lines only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from agent_work_orders.clock import Clock
from agent_work_orders.observability.logs import OrderFiles
from agent_work_orders.observability.structured import structlog

# A line is for reading; what is longer is an artifact or a transcript.
TEXT_LIMIT_CHARS = 4_000
ITEMS_LIMIT = 50
DEPTH_LIMIT = 6

Sink = Callable[[str, int, str, str, dict[str, Any]], None]
"""(order, at_ms, level, event, fields): must not raise."""


class OrderLog:
    def __init__(
        self, files: OrderFiles, clock: Clock, *, redact: Callable[[Any], Any], sink: Sink
    ) -> None:
        self._files = files
        self._clock = clock
        self._redact = redact
        self._sink = sink
        self._logger = structlog.get_logger()

    def __call__(self, order_id: str, event: str, level: str, fields: Mapping[str, Any]) -> None:
        error = fields.get("exc_info")
        plain = {name: value for name, value in fields.items() if name != "exc_info"}
        clean: dict[str, Any] = bounded(self._redact(plain))
        more: dict[str, Any] = {} if error is None else {"exc_info": error}
        if order_id:
            more["agent_work_order_id"] = order_id
            try:
                self._files.write(order_id, level, event, clean)
            except OSError as failure:
                more["log_file_error"] = str(failure)
            self._sink(order_id, self._clock.now_ms(), level, event, clean)
        # Whoever read our output may be gone: a pipe without a reader, a closed terminal.
        with suppress(OSError, ValueError):
            getattr(self._logger, level)(event, **{**clean, **more})


def bounded(value: Any, depth: int = DEPTH_LIMIT) -> Any:
    """The same value with long texts, long lists and deep ones cut, and marked as cut."""
    if isinstance(value, str) and len(value) > TEXT_LIMIT_CHARS:
        return f"{value[:TEXT_LIMIT_CHARS]}… ({len(value)} characters)"
    if isinstance(value, dict):
        if depth == 0:
            return f"… ({len(value)} fields)"
        kept = list(value.items())[:ITEMS_LIMIT]
        return {bounded(str(name)): bounded(item, depth - 1) for name, item in kept}
    if isinstance(value, list | tuple):
        if depth == 0:
            return f"… ({len(value)} items)"
        kept_items = [bounded(item, depth - 1) for item in value[:ITEMS_LIMIT]]
        left = len(value) - ITEMS_LIMIT
        return [*kept_items, f"… ({left} more)"] if left > 0 else kept_items
    return value
