"""What a plugged-in program prints: plain text, or JSON lines of a small schema. Pure.

A line that is a JSON object with one of these types is an event; every other line is plain text:

    {"type": "text" | "thinking" | "tool_result" | "error", "text": "…"}
    {"type": "tool_use", "name": "…", "input": {…}}
    {"type": "result", "text": "…", "session_id": "…", "cost_usd": 0.1, "input_tokens": 1,
     "output_tokens": 1, "turns": 1, "error": "…" | {"kind": "rate_limit", "message": "…",
     "retry_at_ms": 0}}

Nothing is required. The last valid `result` counts; without one, the end of what was printed is
the turn's text. Whatever stands in `error` is one, also of a kind that nobody knows, and makes the
result valid.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from agent_work_orders.agent_executor import lenient
from agent_work_orders.agent_executor.agent import TEXT_LIMIT_CHARS, AgentError, Entry, ErrorKind
from agent_work_orders.agent_executor.lines import decoded

# What a person reads as "the answer" of a program that prints plain text.
TEXT_LIMIT_BYTES = 16 * 1024
# An unfinished line is held back up to this size; a longer one is plain text in parts.
LINE_LIMIT_BYTES = 1024 * 1024
# Past so many lines that look like JSON a program is not talking to us: the rest is plain text.
CANDIDATE_LIMIT = 100_000
MESSAGE_LIMIT_CHARS = 2_000


class Reported(msgspec.Struct, frozen=True):
    kind: ErrorKind
    message: str = ""
    retry_at_ms: int | None = None


class Result(msgspec.Struct, frozen=True):
    text: str = ""
    session_id: Annotated[str, msgspec.Meta(max_length=200)] | None = None
    cost_usd: float | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    turns: int = 0
    reported: Reported | None = None

    def failure(self, exit_code: int | None) -> AgentError | None:
        if self.reported is None:
            return None
        return AgentError(
            kind=self.reported.kind,
            message=self.reported.message or self.reported.kind,
            retry_at_ms=self.reported.retry_at_ms,
            exit_code=exit_code,
        )


def _reported(event: dict[str, Any]) -> Reported | None:
    """What a result says went wrong; also in the words of programs that are like us."""
    said = event.get("error") or event.get("errors")
    if not said and event.get("is_error") is not True:
        return None
    if not isinstance(said, dict):
        return Reported("exit_code", _words(said or event.get("text")))
    message = said.get("message")
    words = message if isinstance(message, str) and message else _words(said)
    try:
        kind = msgspec.convert(said.get("kind"), ErrorKind)
    except msgspec.ValidationError:
        return Reported("exit_code", words[:MESSAGE_LIMIT_CHARS])
    at_ms = said.get("retry_at_ms")
    return Reported(
        kind,
        message[:MESSAGE_LIMIT_CHARS] if isinstance(message, str) else "",
        at_ms if isinstance(at_ms, int) else None,
    )


def _words(said: Any) -> str:
    words = said if isinstance(said, str) else msgspec.json.encode(said).decode()
    return (words or "the agent said that it failed")[:MESSAGE_LIMIT_CHARS]


class Reader:
    """Feed it one stream of the program. It never raises on what is printed, and plain text is
    handled by the chunk: a program may print a hundred million short lines."""

    def __init__(self, *, source: str = "stdout") -> None:
        self._source = source
        self._held = b""
        self._inside_line = False
        self._candidates = 0 if source == "stdout" else CANDIDATE_LIMIT
        self._tail = bytearray()
        self.result: Result | None = None

    def feed(self, chunk: bytes) -> list[Entry]:
        data = self._held + chunk
        end = data.rfind(b"\n")
        if end >= 0:
            self._held = data[end + 1 :]
            return self._block(data[:end])
        if len(data) <= LINE_LIMIT_BYTES:
            self._held = data
            return []
        self._held = b""
        self._inside_line = True
        return self._plain(data)

    def close(self) -> list[Entry]:
        data, self._held = self._held, b""
        return self._block(data) if data else []

    @property
    def text(self) -> str:
        if self.result is not None and self.result.text:
            return self.result.text[:TEXT_LIMIT_CHARS]
        return bytes(self._tail).decode("utf-8", "replace").strip()

    def _block(self, block: bytes) -> list[Entry]:
        """Whole lines, but for the end of a long one that stands first."""
        entries: list[Entry] = []
        if self._inside_line:
            self._inside_line = False
            rest, _, block = block.partition(b"\n")
            entries += self._plain(rest)
        if self._candidates >= CANDIDATE_LIMIT or (
            not block.startswith(b"{") and b"\n{" not in block
        ):
            return entries + self._plain(block)
        plain: list[bytes] = []
        for line in block.split(b"\n"):
            event = self._event(line)
            if event is None:
                plain.append(line)
                continue
            entries += self._plain(b"\n".join(plain))
            plain = []
            entries.append(event)
        return entries + self._plain(b"\n".join(plain))

    def _plain(self, content: bytes) -> list[Entry]:
        if not content:
            return []
        self._tail += content[-TEXT_LIMIT_BYTES:] + b"\n"
        del self._tail[:-TEXT_LIMIT_BYTES]
        text, marks = decoded(content)
        if self._source == "stdout":
            return [Entry(kind="text", text=text, data=dict(marks))]
        return [Entry(kind="system", text=text, data={"stream": self._source} | marks)]

    def _event(self, line: bytes) -> Entry | None:
        if not line.startswith(b"{") or self._candidates >= CANDIDATE_LIMIT:
            return None
        self._candidates += 1
        try:
            event = msgspec.json.decode(line)
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
        reported = _reported(event)
        # A null says nothing.
        said = {name: value for name, value in event.items() if value is not None}
        try:
            read = msgspec.convert(said, Result)
        except msgspec.ValidationError:
            if reported is None:
                return None
            read = lenient.read(event, Result)
        self.result = msgspec.structs.replace(read, reported=reported)
        return Entry(kind="system", text="end of turn", data={"cost_usd": self.result.cost_usd})
