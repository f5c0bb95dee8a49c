"""What a plugged-in program prints: plain text, or JSON lines of a small schema. Pure.

A line that is a JSON object with one of these types is an event; every other line is plain text:

    {"type": "text" | "thinking" | "tool_result" | "error", "text": "…"}
    {"type": "tool_use", "name": "…", "input": {…}}
    {"type": "result", "text": "…", "session_id": "…", "cost_usd": 0.1, "input_tokens": 1,
     "output_tokens": 1, "turns": 1, "error": "…" | {"kind": "rate_limit", "message": "…",
     "retry_at_ms": 0}}

Nothing is required. The last valid `result` counts; without one, the end of what was printed is
the turn's text.
"""

from __future__ import annotations

from typing import Any

import msgspec

from agent_work_orders.agent_executor.agent import AgentError, Entry, ErrorKind
from agent_work_orders.agent_executor.lines import Line, Lines, decoded

# What a person reads as "the answer" of a program that prints plain text.
TEXT_LIMIT_BYTES = 16 * 1024
# A plain line longer than this is cut in the transcript; the execution keeps head and tail.
LINE_LIMIT_BYTES = 256 * 1024


class Reported(msgspec.Struct, frozen=True):
    kind: ErrorKind
    message: str = ""
    retry_at_ms: int | None = None


class Result(msgspec.Struct, frozen=True):
    text: str = ""
    session_id: str | None = None
    cost_usd: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    turns: int = 0
    error: Reported | str | None = None

    def failure(self, exit_code: int | None) -> AgentError | None:
        match self.error:
            case None | "":
                return None
            case str() as message:
                return AgentError(kind="exit_code", message=message[:2000], exit_code=exit_code)
            case Reported(kind=kind, message=message, retry_at_ms=retry_at_ms):
                return AgentError(
                    kind=kind,
                    message=message[:2000] or kind,
                    retry_at_ms=retry_at_ms,
                    exit_code=exit_code,
                )


class Reader:
    """Feed it one stream of the program. It never raises on what is printed."""

    def __init__(self, *, source: str = "stdout") -> None:
        self._lines = Lines(LINE_LIMIT_BYTES)
        self._source = source
        self._tail = bytearray()
        self.result: Result | None = None

    def feed(self, chunk: bytes) -> list[Entry]:
        return self._told(self._lines.feed(chunk))

    def close(self) -> list[Entry]:
        return self._told(self._lines.close())

    @property
    def text(self) -> str:
        if self.result is not None and self.result.text:
            return self.result.text
        return bytes(self._tail).decode("utf-8", "replace").strip()

    def _told(self, lines: list[Line]) -> list[Entry]:
        """Plain lines of one chunk are one entry: a program may print a million short ones."""
        entries: list[Entry] = []
        plain: list[Line] = []
        for line in lines:
            event = self._event(line) if self._source == "stdout" else None
            if event is None:
                plain.append(line)
                continue
            entries += self._plain(plain)
            plain = []
            entries.append(event)
        return entries + self._plain(plain)

    def _plain(self, lines: list[Line]) -> list[Entry]:
        if not lines:
            return []
        content = b"\n".join(line.content for line in lines)
        self._tail += content + b"\n"
        del self._tail[:-TEXT_LIMIT_BYTES]
        text, marks = decoded(content)
        data: dict[str, Any] = dict(marks)
        if self._source != "stdout":
            data["stream"] = self._source
        if lost := sum(line.lost_bytes for line in lines):
            data["lost_bytes"] = lost
        return [Entry(kind="text" if self._source == "stdout" else "system", text=text, data=data)]

    def _event(self, line: Line) -> Entry | None:
        if line.lost_bytes or not line.content.startswith(b"{"):
            return None
        try:
            event = msgspec.json.decode(line.content)
        except (msgspec.DecodeError, RecursionError):
            return None
        match event.get("type"):
            case ("text" | "thinking" | "tool_result" | "error") as kind:
                return Entry(kind=kind, text=str(event.get("text", "")))
            case "tool_use":
                data = {"input": event.get("input")}
                return Entry(kind="tool_use", text=str(event.get("name", "?")), data=data)
            case "result":
                return self._end(event)
        return None

    def _end(self, event: dict[str, Any]) -> Entry | None:
        try:
            self.result = msgspec.convert(event, Result)
        except msgspec.ValidationError:
            return None
        return Entry(kind="system", text="end of turn", data={"cost_usd": self.result.cost_usd})
